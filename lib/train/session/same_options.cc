#include "train/session/same_options.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/json_reader.h"

namespace odb {
namespace {

constexpr std::array<std::string_view, 13> kOfARank = {
    "rank",    "local_rank", "rendezvous", "network", "device",    "threads", "cache_dir",
    "console", "data",       "eval_data",  "model",   "tokenizer", "output"};

// The number of files must be equal, their paths need not be.
std::size_t count(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_array() ? found->size() : 0;
}

}  // namespace

std::string differing_options(std::string_view own_text, std::string_view first_text,
                              std::string_view other) {
  constexpr std::size_t kMax = 5;
  const Json own = parse_strict_object(own_text, "this rank's options");
  const Json first = parse_strict_object(first_text, "the options to compare with");
  std::vector<std::string> found;
  for (const auto& [key, value] : own.items()) {
    if (std::ranges::find(kOfARank, key) != kOfARank.end()) continue;
    const auto there = first.find(key);
    if (there == first.end() || *there != value)
      found.push_back(fmt::format("{}: {} here, {} {}", key, value.dump(),
                                  there == first.end() ? "unknown" : there->dump(), other));
  }
  for (const char* key : {"data", "eval_data"})
    if (count(own, key) != count(first, key))
      found.push_back(
          fmt::format("{}: {} files here, {} {}", key, count(own, key), count(first, key), other));
  const std::size_t all = found.size();
  if (all > kMax) {
    found.resize(kMax);
    found.push_back(fmt::format("{} more", all - kMax));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

std::string device_mismatch(const RankDevice& own, const RankDevice& other) {
  if (own.name == other.name) return "";
  return fmt::format(
      "rank {} computes on {}, rank {} on {}; expected devices of one kind, because others round "
      "differently and the weights of ranks would drift apart; choose equal devices, or permit it "
      "by --mixed-devices with a small --check-every",
      own.rank, own.name, other.rank, other.name);
}

}  // namespace odb
