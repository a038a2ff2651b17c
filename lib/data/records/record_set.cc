#include "data/records/record_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/permutation.h"

namespace odb {
namespace {

constexpr double kMaxWeight = 1000;

std::uint64_t view_count(std::uint64_t rows, double weight) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(rows) * weight));
}

// "hf://...", "s3://...", "file://...".
bool is_address(std::string_view word) {
  const std::size_t end = word.find("://");
  return end != std::string_view::npos && end > 0 &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") == end;
}

}  // namespace

DataSource parse_data_source(FileSystem& files, const std::string& word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos || files.exists(word)) return {.path = word};
  if (is_address(word))
    throw DataError(
        "--data {}: no such file; nothing is downloaded, expected the path of a local file", word);
  DataSource source{.path = word.substr(0, colon)};
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + colon + 1, end, source.weight);
  const bool is_weight =
      error == std::errc() && rest == end && source.weight > 0 && source.weight <= kMaxWeight;
  if (!is_weight && !files.exists(source.path))
    throw DataError(
        "--data {}: no such file; nothing is downloaded, expected the path of a local file (before "
        "a colon and a weight, if any)",
        word);
  if (!is_weight)
    throw UsageError(
        "--data {}: found the weight '{}'; expected a number above 0 and at most {}, as in "
        "data.jsonl:0.5",
        word, word.substr(colon + 1), kMaxWeight);
  return source;
}

RecordSet::RecordSet(const std::vector<DataSource>& sources, std::uint64_t seed,
                     const CacheFolder& cache, const IndexBuild& build)
    : seed_(seed) {
  std::uint64_t views = 0;
  for (const DataSource& source : sources) {
    files_.emplace_back(source.path, cache, build);
    weights_.push_back(source.weight);
    const std::uint64_t own_views = view_count(files_.back().rows(), source.weight);
    if (own_views == 0 && files_.back().rows() > 0)
      log("data").warn("{}: with the weight {} its {} rows give no view; none of them is trained",
                       source.path, source.weight, files_.back().rows());
    views += own_views;
    ends_.push_back(views);
  }
  if (views > 0) return;
  if (sources.empty())
    throw UsageError("no data file was given; expected at least one --data PATH");
  throw DataError("{}: no rows; expected at least one record (with its weight, at least one view)",
                  sources.front().path);
}

std::uint64_t RecordSet::rows() const {
  std::uint64_t sum = 0;
  for (const RecordFile& file : files_)
    sum += file.rows();
  return sum;
}

RecordSet::RowRef RecordSet::row(std::uint64_t view, std::uint64_t epoch) const {
  ODB_CHECK_LT(view, views());
  const auto file =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), view) - ends_.begin());
  const std::uint64_t first = file == 0 ? 0 : ends_[file - 1];
  const std::uint64_t local = view - first;
  if (weights_[file] == 1.0) return {.file = file, .row = local};
  const std::uint64_t rows = files_[file].rows();
  const std::uint64_t position = epoch * (ends_[file] - first) + local;
  // One order per file and pass over its rows.
  const Permutation order(static_cast<std::int64_t>(rows), seed_ + file * 0x9E3779B97F4A7C15ULL,
                          position / rows);
  return {.file = file,
          .row = static_cast<std::uint64_t>(order(static_cast<std::int64_t>(position % rows)))};
}

}  // namespace odb
