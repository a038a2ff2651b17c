#include "train/step/run_part.h"

#include <charconv>

namespace odb {

Reading<RunPart> read_run_part(std::string_view text) {
  double share = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, share);
  if (error == std::errc() && stopped == end) {
    if (!(share >= 0 && share <= 1)) return {std::nullopt, "a plain number is a share of the run"};
    return {RunPart{.share = share, .amount = {}}};
  }
  const Reading<Amount> amount = read_amount(
      text, {.units = {Unit::epochs, Unit::samples, Unit::tokens, Unit::steps}, .bare = {}});
  if (!amount.value) return {std::nullopt, amount.problem};
  return {RunPart{.share = 0, .amount = amount.value}};
}

std::string print_run_part(const RunPart& part) {
  return part.amount ? print_amount(*part.amount) : fmt::format("{}", part.share);
}

}  // namespace odb
