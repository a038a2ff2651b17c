#include "train/session/device_match.h"

#include <fmt/format.h>

namespace odb {

std::string device_mismatch(const RankDevice& own, const RankDevice& other) {
  if (own.name == other.name) return "";
  return fmt::format(
      "rank {} computes on {}, rank {} on {}; expected devices of one kind, because others round "
      "differently and the weights of ranks would drift apart; choose equal devices, or permit it "
      "by --mixed-devices with a small --check-every",
      own.rank, own.name, other.rank, other.name);
}

}  // namespace odb
