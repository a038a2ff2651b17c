// The report as text for the terminal.
#include <algorithm>

#include <fmt/format.h>

#include "data/inspect/data_report.h"

namespace odb {
namespace {

constexpr std::int64_t kBarLetters = 50;

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string files_text(const DataReport& report) {
  std::string out;
  for (const FileReport& file : report.files) {
    out += fmt::format("{}: {} rows ({})", file.path, file.rows, file.layout);
    if (file.weight != 1.0) out += fmt::format(", weight {}", file.weight);
    for (std::size_t i = 0; i < file.rows_by_format.size(); ++i)
      if (file.rows_by_format[i] > 0)
        out += fmt::format(", {} {}", file.rows_by_format[i], name(static_cast<RecordFormat>(i)));
    out += "\n";
  }
  return out;
}

std::string left_out_lines(const DataReport& report) {
  std::string out;
  for (std::size_t i = 1; i < report.rows_by_reason.size(); ++i)
    if (report.rows_by_reason[i] > 0)
      out += fmt::format("left out: {} rows ({:.2f} %): {}\n", report.rows_by_reason[i],
                         percent(report.rows_by_reason[i], report.rows()), name(kRowReasons[i]));
  for (const std::string& problem : report.problems)
    out += fmt::format("  {}\n", problem);
  return out;
}

std::string bar_text(const LengthBar& bar, std::int64_t most) {
  const bool one_length = bar.below - bar.from == 1;
  const std::string last = one_length ? "" : fmt::format("- {}", bar.below - 1);
  const std::int64_t letters = (bar.samples * kBarLetters + most - 1) / most;
  return fmt::format("  {:>9} {:<11} {:>10}{}{}\n", bar.from, last, bar.samples,
                     letters > 0 ? "  " : "", std::string(static_cast<std::size_t>(letters), '#'));
}

// From the shortest sample on.
std::string histogram_text(const LengthSummary& lengths) {
  std::int64_t most = 1;
  for (const LengthBar& bar : lengths.histogram)
    most = std::max(most, bar.samples);
  std::string out;
  for (const LengthBar& bar : lengths.histogram)
    if (bar.below > lengths.shortest) out += bar_text(bar, most);
  return out;
}

}  // namespace

std::string report_text(const DataReport& report) {
  std::string out = files_text(report);
  out += fmt::format("chat template: {}\n", report.chat_template);
  out += fmt::format("trained: {} of {} rows, {} tokens, {} supervised ({:.1f} %)\n",
                     report.trained(), report.rows(), report.tokens, report.supervised,
                     percent(report.supervised, report.tokens));
  out += left_out_lines(report);
  if (report.trained() == 0) return out + "no sample can be trained\n";
  const LengthSummary& before = report.before_cut;
  out += fmt::format(
      "tokens per sample, before the cut: shortest {}, median {}, mean {:.1f}, 90 % {}, 99 % {}, "
      "longest {}\n",
      before.shortest, before.median, before.mean, before.percentile_90, before.percentile_99,
      before.longest);
  if (report.cutoff_length > 0)
    out += fmt::format("cut at {} tokens: {} samples ({:.2f} %)\n", report.cutoff_length,
                       report.truncated, percent(report.truncated, report.trained()));
  out += fmt::format(
      "lengths after the cut: CV {:.2f}, {:.1f} % short (under a quarter of the "
      "longest)\n",
      report.after_cut.variation, 100 * report.after_cut.short_share);
  out += histogram_text(report.after_cut);
  out +=
      fmt::format("suggested: --l-max {}: {}\n", report.suggested_l_max, report.suggestion_reason);
  return out;
}

}  // namespace odb
