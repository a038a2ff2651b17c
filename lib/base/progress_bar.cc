#include "base/progress_bar.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

#include "base/progress_callback.h"

namespace odb {
namespace {

std::uint64_t percent_of(std::uint64_t done, std::uint64_t total) {
  return total == 0 ? 100
                    : static_cast<std::uint64_t>(100.0 * static_cast<double>(done) /
                                                 static_cast<double>(total));
}

}  // namespace

std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::size_t width) {
  const std::uint64_t percent = percent_of(done, total);
  const std::size_t filled = width * percent / 100;
  return fmt::format("{} [{}{}] {:3} %", what, std::string(filled, '#'),
                     std::string(width - filled, '.'), percent);
}

ProgressCallback terminal_progress(std::string what) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [what = std::move(what), last = std::uint64_t{101}](std::uint64_t done,
                                                             std::uint64_t total) mutable {
    const std::uint64_t percent = percent_of(done, total);
    if (percent == last) return;
    last = percent;
    const std::string line = progress_line(what, done, total);
    // Not by fmt, which throws where the terminal is gone.
    std::fputs(("\r" + (done == total ? std::string(line.size(), ' ') + "\r" : line)).c_str(),
               stderr);
  };
}

}  // namespace odb
