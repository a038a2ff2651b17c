#include "data/sample/sample.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::array<std::string_view, 3> kTrainOnNames = {"answers", "last-answer", "all"};

}  // namespace

std::string_view left_out_text(WhyLeftOut reason) {
  constexpr std::array<std::string_view, kLeftOutReasons> kTexts = {
      "", "bad record", "empty", "no supervised token", "answers behind the cutoff length"};
  return kTexts[static_cast<std::size_t>(reason)];
}

std::string_view train_on_name(TrainOn train_on) {
  return kTrainOnNames[static_cast<std::size_t>(train_on)];
}

}  // namespace odb
