#include "data/sample/sample.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/index.h"

namespace odb {
namespace {

constexpr std::array<std::string_view, 3> kTrainOnNames = {"answers", "last-answer", "all"};

}  // namespace

std::string_view name(TrainOn train_on) {
  return at(kTrainOnNames, train_on);
}

}  // namespace odb
