#include "data/inspect/data_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/index.h"
#include "base/percentile.h"

namespace odb {
namespace {

constexpr std::int64_t kBudgetStep = 1024;
constexpr std::int64_t kAverageSamples = 8;

std::vector<LengthBar> histogram(const std::vector<std::int64_t>& sorted, std::size_t max_bars) {
  std::int64_t width = 1;
  while (sorted.back() / width >= static_cast<std::int64_t>(max_bars))
    width *= 2;
  std::vector<LengthBar> bars(static_cast<std::size_t>(sorted.back() / width) + 1);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].from = static_cast<std::int64_t>(i) * width;
    bars[i].below = bars[i].from + width;
  }
  for (const std::int64_t length : sorted)
    ++at(bars, length / width).samples;
  return bars;
}

}  // namespace

LengthSummary summarize_lengths(std::vector<std::int64_t> lengths, std::size_t max_bars) {
  if (lengths.empty()) return {};
  std::sort(lengths.begin(), lengths.end());
  const auto count = static_cast<double>(lengths.size());
  const double mean = std::accumulate(lengths.begin(), lengths.end(), 0.0) / count;
  double squares = 0;
  for (const std::int64_t length : lengths)
    squares += (static_cast<double>(length) - mean) * (static_cast<double>(length) - mean);
  const auto is_short = [&](std::int64_t length) { return length * 4 < lengths.back(); };
  return {.shortest = lengths.front(),
          .median = percentile(lengths, 50),
          .percentile_90 = percentile(lengths, 90),
          .percentile_99 = percentile(lengths, 99),
          .longest = lengths.back(),
          .mean = mean,
          .variation = mean > 0 ? std::sqrt(squares / count) / mean : 0,
          .short_share =
              static_cast<double>(std::count_if(lengths.begin(), lengths.end(), is_short)) / count,
          .histogram = histogram(lengths, max_bars)};
}

std::int64_t DataReport::rows() const {
  return std::accumulate(rows_by_reason.begin(), rows_by_reason.end(), std::int64_t{0});
}

DataReport make_report(const std::vector<std::vector<RowLength>>& file_lengths,
                       std::int64_t cutoff_length) {
  DataReport report{.cutoff_length = cutoff_length};
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (const std::vector<RowLength>& lengths : file_lengths) {
    for (const RowLength& row : lengths) {
      ++report.rows_by_reason[row.left_out];
      if (row.reason() != LeftOutReason::none) continue;
      const std::int64_t length = row.length;
      const bool cut = cutoff_length > 0 && length > cutoff_length;
      before.push_back(length);
      after.push_back(cut ? cutoff_length : length);
      report.truncated += cut ? 1 : 0;
      report.tokens += after.back();
      report.supervised += row.supervised;
    }
  }
  report.before_cut = summarize_lengths(std::move(before));
  report.after_cut = summarize_lengths(std::move(after));
  suggest_l_max(report);
  return report;
}

void suggest_l_max(DataReport& report) {
  if (report.trained() == 0) {
    report.suggestion_reason = "no sample can be trained";
    return;
  }
  const LengthSummary& lengths = report.after_cut;
  const auto average = static_cast<std::int64_t>(std::ceil(lengths.mean));
  const std::int64_t budget = std::max(lengths.longest, kAverageSamples * average);
  report.suggested_l_max = (budget + kBudgetStep - 1) / kBudgetStep * kBudgetStep;
  report.suggestion_reason = fmt::format(
      "holds the longest sample ({} tokens) and about {} average ones ({} tokens); use more if "
      "memory allows",
      lengths.longest, report.suggested_l_max / average, average);
}

}  // namespace odb
