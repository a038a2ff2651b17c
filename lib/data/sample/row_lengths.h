// The length pass: builds the sample of every row once and keeps only its lengths. Batching
// strategies that know all lengths need it before training; `inspect data` reports it. Cached next
// to the index.
//
// Byte format of the cache file (little-endian): 8 bytes a row (RowLength), then 64 bytes: magic
// "ODBLENGT", version u32, 4 zero bytes, rows u64, checksum of the rows XXH3-128, 24 zero bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress_callback.h"
#include "data/sample/sample_source.h"

namespace odb {

// The reasons why a row is not trained, at the numbers that cache files have for them.
inline constexpr std::array kRowReasons = {LeftOutReason::none, LeftOutReason::bad_record,
                                           LeftOutReason::empty, LeftOutReason::no_supervised_token,
                                           LeftOutReason::cut_away};

struct RowLength {
  std::uint32_t length = 0;           // tokens before the cut; 0 for a bad or empty row
  std::uint32_t supervised : 28 = 0;  // tokens, after the cut
  std::uint32_t left_out : 4 = 0;     // place of the reason in kRowReasons

  LeftOutReason reason() const { return kRowReasons.at(left_out); }
  // One of kRowReasons.
  void set_reason(LeftOutReason reason) {
    const auto found = std::ranges::find(kRowReasons, reason);
    left_out = static_cast<std::uint32_t>(found - kRowReasons.begin());
  }
  friend bool operator==(const RowLength&, const RowLength&) = default;
};
static_assert(sizeof(RowLength) == 8);

// What a pass over one file finds besides the lengths.
struct PassFindings {
  std::vector<std::uint64_t> rows_by_format;  // of rows that could be read, by RecordFormat
  std::vector<std::string> problems;          // of the first bad rows, in row order
};
constexpr std::size_t kMaxProblems = 20;

struct PassOptions {
  int threads = 0;            // 0: one per core
  ProgressCallback progress;  // in rows
};

// Builds the sample of each row of `file` on several threads, which have ended when it returns.
// With on-bad-sample fail, throws the DataError of the first bad row that is found.
std::vector<RowLength> measure_rows(const Preprocessor& preprocessor, const RecordFile& file,
                                    const PassOptions& options, PassFindings* findings = nullptr);

// The lengths of a file from the cache, or nullopt if they are missing or damaged. Their key is
// (content of the file, Preprocessor::key).
std::optional<std::vector<RowLength>> load_row_lengths(const SampleSource& source,
                                                       const RecordFile& file);
void store_row_lengths(const SampleSource& source, const RecordFile& file,
                       const std::vector<RowLength>& lengths);

// From the cache; otherwise measured and stored.
std::vector<RowLength> row_lengths(const SampleSource& source, const RecordFile& file,
                                   const PassOptions& options = {});

}  // namespace odb
