#include "base/launch_channel.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/text.h"

namespace odb {
namespace {

std::optional<int> descriptor_in(const char* variable) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? std::nullopt : parse_integer<int>(std::string_view(given));
}

}  // namespace

PhaseChannel::PhaseChannel() : file_(descriptor_in(kPhaseVariable)) {}

void PhaseChannel::publish(const std::string& phase) const {
  if (!file_) return;
  std::array<char, kMaxPhaseBytes> bytes{};
  std::copy_n(phase.begin(), std::min(phase.size(), bytes.size()), bytes.begin());
  (void)!::pwrite(*file_, bytes.data(), bytes.size(), 0);
}

// Nobody reads before this process has ended, so it must fit into the pipe. Written as a whole or
// not at all.
static_assert(sizeof(PlainFailure) <= PIPE_BUF);

bool report_final_error(const Failure& failure) {
  const auto pipe = descriptor_in(kFinalErrorVariable);
  const PlainFailure plain = to_plain(failure);
  return pipe && ::write(*pipe, &plain, sizeof plain) == static_cast<ssize_t>(sizeof plain);
}

std::optional<Failure> take_final_error(int pipe) {
  PlainFailure plain;
  if (::read(pipe, &plain, sizeof plain) != static_cast<ssize_t>(sizeof plain)) return std::nullopt;
  return from_plain(plain);
}

}  // namespace odb
