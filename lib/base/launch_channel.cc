#include "base/launch_channel.h"

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

bool report_final_error(const std::string& text) {
  const auto pipe = descriptor_in(kFinalErrorVariable);
  // Text beyond a pipe's capacity is cut: nobody reads before this process has ended.
  constexpr std::size_t kMax = 32768;
  const std::string_view words = std::string_view(text).substr(0, kMax);
  return pipe && ::write(*pipe, words.data(), words.size()) == static_cast<ssize_t>(words.size());
}

}  // namespace odb
