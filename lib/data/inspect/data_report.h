// The report of `inspect data`: computed from row lengths, written as text, JSON and SVG.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/sample/row_lengths.h"

namespace odb {

struct LengthBar {
  std::int64_t from = 0;  // tokens
  std::int64_t below = 0;
  std::int64_t samples = 0;
};

struct LengthSummary {
  std::int64_t shortest = 0;
  std::int64_t median = 0;
  std::int64_t percentile_90 = 0;
  std::int64_t percentile_99 = 0;
  std::int64_t longest = 0;
  double mean = 0;
  double variation = 0;    // standard deviation / mean (CV)
  double short_share = 0;  // of the samples, those under a quarter of the longest
  std::vector<LengthBar> histogram;
};

struct FileReport {
  std::string path;
  std::string layout;  // "lines" or "array"
  std::uint64_t rows = 0;
  double weight = 1.0;
  std::vector<std::uint64_t> rows_by_format;
};

struct DataReport {
  std::vector<FileReport> files;
  std::string chat_template;
  std::int64_t cutoff_length = 0;
  std::array<std::int64_t, kRowReasons.size()> rows_by_reason{};  // as kRowReasons
  std::vector<std::string> problems;                              // of the first bad rows
  LengthSummary before_cut;                                       // of the trained samples
  LengthSummary after_cut;
  std::int64_t tokens = 0;      // of the trained samples, after the cut
  std::int64_t supervised = 0;  // of these
  std::int64_t truncated = 0;   // trained samples that were cut
  std::int64_t suggested_l_max = 0;
  std::string suggestion_reason;

  std::int64_t rows() const;
  std::int64_t trained() const { return rows_by_reason[0]; }
};

// Bars of equal width (a power of two times 1, so that there are at most `max_bars`), from 0 to
// the longest. Percentile p is the smallest length that p % of the samples do not exceed.
LengthSummary summarize_lengths(std::vector<std::int64_t> lengths, std::size_t max_bars = 20);

// Everything that follows from the lengths. `file_lengths` has one list per file; weights are not
// applied.
DataReport make_report(const std::vector<std::vector<RowLength>>& file_lengths,
                       std::int64_t cutoff_length);

// The budget that holds the longest sample and at least eight average ones, rounded up to 1,024.
void suggest_l_max(DataReport& report);

std::string report_text(const DataReport& report);
std::string report_json(const DataReport& report);
std::string report_svg(const DataReport& report);

}  // namespace odb
