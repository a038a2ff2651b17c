#include "data/sample/row_lengths.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "base/checksum.h"
#include "base/error.h"
#include "base/ignore_index.h"
#include "base/index.h"
#include "base/log.h"

namespace odb {
namespace {

constexpr std::uint64_t kRowsPerTurn = 64;
constexpr std::uint32_t kMaxSupervised = (1U << 28) - 1;

struct CacheTail {
  char magic[8] = {'O', 'D', 'B', 'L', 'E', 'N', 'G', 'T'};
  std::uint32_t version = 1;
  std::uint32_t zero = 0;
  std::uint64_t rows = 0;
  Checksum128 checksum;
  std::uint64_t zeros[3] = {};
};
static_assert(sizeof(CacheTail) == 64);

std::string_view bytes_of(const std::vector<RowLength>& lengths) {
  return {reinterpret_cast<const char*>(lengths.data()), lengths.size() * sizeof(RowLength)};
}

// The threads of one pass take rows in turns from `next`.
class Pass {
 public:
  Pass(const Preprocessor& preprocessor, const RecordFile& file, const PassOptions& options)
      : preprocessor_(preprocessor), file_(file), options_(options), lengths_(file.rows()) {}

  void run() {
    const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int threads = options_.threads > 0 ? options_.threads : cores;
    std::vector<std::future<void>> helpers;
    for (int i = 1; i < threads; ++i)
      helpers.push_back(std::async(std::launch::async, [this] { guarded_work(false); }));
    std::exception_ptr first;
    try {
      guarded_work(true);
    } catch (...) {
      first = std::current_exception();
    }
    for (std::future<void>& helper : helpers) {
      try {
        helper.get();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
    if (options_.progress) options_.progress(lengths_.size(), lengths_.size());
  }

  std::vector<RowLength>& lengths() { return lengths_; }

  void report(PassFindings& findings) const {
    findings.rows_by_format.assign(rows_by_format_.begin(), rows_by_format_.end());
    for (const auto& [row, problem] : problems_)
      findings.problems.push_back(problem);
  }

 private:
  // One thread's failure stops all threads.
  void guarded_work(bool reports_progress) {
    try {
      work(reports_progress);
    } catch (...) {
      next_ = std::numeric_limits<std::uint64_t>::max() / 2;
      throw;
    }
  }

  void work(bool reports_progress) {
    const std::unique_ptr<SampleBuilder> builder = preprocessor_.builder(0);
    Sample sample;
    for (;;) {
      const std::uint64_t begin = next_.fetch_add(kRowsPerTurn);
      if (begin >= lengths_.size()) return;
      const std::uint64_t end = std::min<std::uint64_t>(begin + kRowsPerTurn, lengths_.size());
      for (std::uint64_t row = begin; row < end; ++row)
        measure(*builder, row, sample);
      if (reports_progress && options_.progress) options_.progress(end, lengths_.size());
    }
  }

  void measure(SampleBuilder& builder, std::uint64_t row, Sample& sample) {
    BuiltSample made = builder.try_build(file_, row, sample);
    if (made.left_out == LeftOutReason::bad_record &&
        preprocessor_.options().on_bad_sample == OnBadSample::fail)
      made = builder.build(file_, row, sample);  // throws with file and line
    RowLength& result = lengths_[row];
    result.set_reason(made.left_out);
    if (made.left_out == LeftOutReason::bad_record) return add_problem(row, made.problem);
    ++at(rows_by_format_, builder.last_format());
    if (made.left_out == LeftOutReason::empty) return;
    result.length = static_cast<std::uint32_t>(sample.tokens.size());
    const auto cutoff = static_cast<std::size_t>(preprocessor_.options().cutoff_len);
    const std::size_t kept =
        cutoff > 0 ? std::min(cutoff, sample.labels.size()) : sample.labels.size();
    const auto supervised = std::count_if(sample.labels.begin(),
                                          sample.labels.begin() + static_cast<std::ptrdiff_t>(kept),
                                          [](std::int32_t label) { return label != kIgnoreIndex; });
    result.supervised = static_cast<std::uint32_t>(
        std::min<std::ptrdiff_t>(supervised, static_cast<std::ptrdiff_t>(kMaxSupervised)));
    if (supervised == 0 && sample.supervised > 0) result.set_reason(LeftOutReason::cut_away);
  }

  // Messages are formatted only for the first rows.
  void add_problem(std::uint64_t row, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (problems_.size() == kMaxProblems && row > problems_.rbegin()->first) return;
    problems_.emplace(row, fmt::format("{}: {}", file_.where(row), what));
    if (problems_.size() > kMaxProblems) problems_.erase(std::prev(problems_.end()));
  }

  const Preprocessor& preprocessor_;
  const RecordFile& file_;
  const PassOptions& options_;
  std::vector<RowLength> lengths_;
  std::atomic<std::uint64_t> next_{0};
  std::array<std::atomic<std::uint64_t>, kRecordFormats> rows_by_format_{};
  std::mutex mutex_;
  std::map<std::uint64_t, std::string> problems_;  // by row, the first ones
};

std::string cache_name(const RecordFile& file) {
  return CacheFolder::name_of(file.path(), ".lengths");
}

CacheTail tail_of(const std::vector<RowLength>& lengths, const std::string& key) {
  ChecksumStream<Checksum128> checksum;
  checksum.update(key);
  checksum.update(bytes_of(lengths));
  return {.rows = lengths.size(), .checksum = checksum.value()};
}

// What the lengths depend on. Part of the checksum, so that the lengths of other samples do not
// match.
std::string key_of(const SampleSource& source, const RecordFile& file) {
  return file.content_key() + source.preprocessor().key();
}

// Whether the file at `path` holds the lengths of these samples; then `lengths` are them.
bool load_from(const std::string& path, const SampleSource& source, const RecordFile& file,
               std::vector<RowLength>& lengths) {
  const std::string bytes = read_if_there(source.cache().files(), path);
  if (bytes.size() != bytes_of(lengths).size() + sizeof(CacheTail)) return false;
  std::memcpy(lengths.data(), bytes.data(), bytes_of(lengths).size());
  const CacheTail expected = tail_of(lengths, key_of(source, file));
  return std::memcmp(&expected, bytes.data() + bytes_of(lengths).size(), sizeof expected) == 0;
}

}  // namespace

std::vector<RowLength> measure_rows(const Preprocessor& preprocessor, const RecordFile& file,
                                    const PassOptions& options, PassFindings* findings) {
  Pass pass(preprocessor, file, options);
  pass.run();
  if (findings != nullptr) pass.report(*findings);
  return std::move(pass.lengths());
}

std::optional<std::vector<RowLength>> load_row_lengths(const SampleSource& source,
                                                       const RecordFile& file) {
  std::vector<RowLength> lengths(file.rows());
  for (const std::string& path : source.cache().places(file.path(), cache_name(file)))
    if (load_from(path, source, file, lengths)) return lengths;
  return std::nullopt;
}

void store_row_lengths(const SampleSource& source, const RecordFile& file,
                       const std::vector<RowLength>& lengths) {
  const CacheTail tail = tail_of(lengths, key_of(source, file));
  std::vector<RowLength> stored(file.rows());
  source.cache().find_or_make(
      file.path(), cache_name(file),
      [&](const std::string& path) {
        return load_from(path, source, file, stored) && stored == lengths;
      },
      [&](const std::string& temporary, const std::string&) {
        OutputFile into = source.cache().files().create(temporary);
        into.write(bytes_of(lengths));
        into.write({reinterpret_cast<const char*>(&tail), sizeof tail});
        into.sync();
        into.close();
      });
}

std::vector<RowLength> row_lengths(const SampleSource& source, const RecordFile& file,
                                   const PassOptions& options) {
  if (auto cached = load_row_lengths(source, file)) return *std::move(cached);
  log("data").info("measuring the samples of {} ({} rows)", file.path(), file.rows());
  std::vector<RowLength> lengths = measure_rows(source.preprocessor(), file, options);
  store_row_lengths(source, file, lengths);
  return lengths;
}

}  // namespace odb
