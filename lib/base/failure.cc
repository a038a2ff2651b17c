#include "base/failure.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace odb {

static_assert(std::is_trivially_copyable_v<PlainFailure>);

PlainFailure to_plain(const Failure& failure) {
  PlainFailure plain;
  plain.code = static_cast<std::int32_t>(failure.code);
  plain.rank = failure.rank;
  plain.cause = static_cast<std::uint32_t>(failure.cause);
  const std::size_t size = std::min(failure.message.size(), PlainFailure::kMaxMessage);
  plain.size = static_cast<std::uint32_t>(size);
  std::memcpy(plain.message, failure.message.data(), size);
  return plain;
}

Failure from_plain(const PlainFailure& plain) {
  const bool known_cause = plain.cause <= static_cast<std::uint32_t>(FailureCause::lost_rank);
  const std::size_t size = std::min<std::size_t>(plain.size, PlainFailure::kMaxMessage);
  return {.code = static_cast<ExitCode>(plain.code),
          .rank = plain.rank,
          .cause = known_cause ? static_cast<FailureCause>(plain.cause) : FailureCause::own,
          .message = std::string(plain.message, size)};
}

}  // namespace odb
