#include "train/output/console_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/index.h"

namespace odb {
namespace {

constexpr int kBarLetters = 10;

// A run that is not done is never shown as 100 %.
int percent(double share) {
  return static_cast<int>(std::floor(std::clamp(share, 0.0, 1.0) * 100));
}

std::string bar(double share) {
  const int filled = static_cast<int>(std::floor(std::clamp(share, 0.0, 1.0) * kBarLetters));
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(filled), '#'),
                     std::string(static_cast<std::size_t>(kBarLetters - filled), '.'));
}

std::string loss_text(const std::optional<double>& loss) {
  return loss ? fmt::format("loss {:.4f}", *loss) : "";
}
std::string rate_text(const ConsoleFigures& figures) {
  return format_rate(figures.tokens_per_second) + " tokens/s";
}
std::string padding_text(const ConsoleFigures& figures) {
  return fmt::format("padding {:.1f} %", 100 * figures.padding_fraction);
}
std::string wait_text(const ConsoleFigures& figures) {
  return fmt::format("data wait {:.1f} %", 100 * figures.data_wait_fraction);
}
std::string left_text(const ConsoleFigures& figures) {
  return figures.seconds_left ? format_time_left(*figures.seconds_left) + " left" : "";
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty()) line += separator;
    line += part;
  }
  return line;
}

}  // namespace

std::string format_time_left(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  if (!(seconds >= 0 && seconds < 1e10)) return "?";
  const std::int64_t whole = std::llround(seconds);
  if (whole < kMinute) return fmt::format("{}s", whole);
  if (whole < kHour) return fmt::format("{}m{:02}s", whole / kMinute, whole % kMinute);
  if (whole < kDay) return fmt::format("{}h{:02}m", whole / kHour, whole % kHour / kMinute);
  return fmt::format("{}d{:02}h", whole / kDay, whole % kDay / kHour);
}

std::string format_rate(double per_second) {
  constexpr std::array kSuffixes = {"", "k", "M", "B"};
  std::size_t scale = 0;
  // The scale is that of the rounded three digits, so that 999.6 is 1.00k.
  while (per_second >= 999.5 && scale + 1 < kSuffixes.size()) {
    per_second /= 1000;
    ++scale;
  }
  const int decimals = per_second < 9.995 ? 2 : per_second < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", per_second, decimals, kSuffixes[scale]);
}

std::string bar_line(const ConsoleFigures& figures, std::size_t width) {
  std::vector<std::string> parts = {fmt::format("{:3} %", percent(figures.share)),
                                    bar(figures.share),
                                    fmt::format("step {}", figures.step),
                                    loss_text(figures.loss),
                                    rate_text(figures),
                                    padding_text(figures),
                                    wait_text(figures),
                                    left_text(figures)};
  constexpr std::array kDropOrder = {5, 6, 1, 4, 7, 3, 2};
  std::string line = joined(parts, "  ");
  for (const int part : kDropOrder) {
    if (line.size() <= width) break;
    at(parts, part).clear();
    line = joined(parts, "  ");
  }
  return line.substr(0, width);
}

std::string log_line(const ConsoleFigures& figures) {
  return fmt::format(
      "step {} ({} %, epoch {:.2f}): {}", figures.step, percent(figures.share), figures.epoch,
      joined({loss_text(figures.loss), fmt::format("lr {:.3g}", figures.lr), rate_text(figures),
              padding_text(figures), wait_text(figures), left_text(figures)},
             ", "));
}

std::optional<double> seconds_left(double share, double share_at_start, double seconds) {
  if (!(share > share_at_start) || !(seconds > 0)) return std::nullopt;
  return (1 - share) * seconds / (share - share_at_start);
}

}  // namespace odb
