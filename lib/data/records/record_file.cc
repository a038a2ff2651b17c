#include "data/records/record_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/progress_callback.h"
#include "data/records/decompress.h"
#include "data/records/file_kind.h"

namespace odb {
namespace {

constexpr std::size_t kPadding = 64;  // what simdjson may read beyond the end
constexpr std::size_t kKeptBytes = 4 << 20;

std::optional<DataFile> open_compressed(const std::string& path) {
  if (compression_of(path) == Compression::none) return std::nullopt;
  return DataFile(path);
}

DataFile open_plain(const std::string& path, const std::optional<DataFile>& compressed,
                    const CacheFolder& cache, const ProgressCallback& progress) {
  if (!compressed) {
    DataFile file(path);
    check_kind(file, path);
    return file;
  }
  check_kind(*compressed, path);
  DataFile copy(decompressed_copy(cache, *compressed, progress));
  check_copy_kind(copy, path);
  copy.mark_in_use();
  return copy;
}

// The index of `file`, which is the data file `data_path` or its copy.
LineIndex open_index(const DataFile& file, const std::string& data_path, const CacheFolder& cache,
                     const IndexBuild& build) {
  const std::string name = compression_of(data_path) == Compression::none
                               ? CacheFolder::name_of(data_path, ".index")
                               : file_name(file.path()) + ".index";
  const Checksum128 fingerprint = file.fingerprint();
  std::optional<LineIndex> index;
  const auto is_valid = [&](const std::string& path) {
    index = LineIndex::open(path);
    return index && index->trailer().stamp == file.stamp() &&
           index->trailer().fingerprint == fingerprint;
  };
  const std::string path = cache.find_or_make(
      data_path, name, is_valid, [&](const std::string& temporary, const std::string& place) {
        log("data").info("indexing {} ({} bytes) into {}", file.path(), file.size(), place);
        build_index(cache.files(), file, temporary, build);
      });
  if (!is_valid(path))
    throw DataError("{}: its rebuilt index {} does not match it; is a process writing to the file?",
                    file.path(), path);
  return std::move(*index);
}

bool is_between_rows(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

}  // namespace

std::span<char> RecordBuffer::resize(std::size_t bytes) {
  const bool far_too_large = memory_.size() > kKeptBytes && bytes < memory_.size() / 4;
  if (far_too_large) memory_ = {};
  if (memory_.size() < bytes + kPadding) {
    memory_ = {};
    memory_.resize(std::max(bytes + bytes / 8, std::size_t{4096}) + kPadding);
  }
  size_ = bytes;
  return std::span(memory_).first(bytes);
}

RecordFile::RecordFile(const std::string& path, const CacheFolder& cache, const IndexBuild& build)
    : path_(path),
      compressed_(open_compressed(path)),
      file_(open_plain(path, compressed_, cache, build.progress)),
      index_(open_index(file_, path, cache, build)) {}

std::uint64_t RecordFile::longest_row() const {
  for (std::uint64_t row = 0; row < rows(); ++row) {
    const LineIndex::Range bytes = index_.row(row);
    if (bytes.end - bytes.begin == index().longest_row) return row;
  }
  return 0;
}

std::string RecordFile::content_key() const {
  return to_hex(index().content);
}

void RecordFile::read(std::uint64_t row, RecordBuffer& buffer) const {
  const LineIndex::Range range = index_.row(row);
  if (range.end < range.begin || range.end > file_.size())
    throw DataError("{}: row {}: its index names bytes {} to {} of {}; delete the index", path_,
                    row, range.begin, range.end, file_.size());
  // First, so that the error for a removed copy names the cause.
  if (compressed_) compressed_->check_unchanged();
  file_.check_unchanged();
  const std::span<char> bytes = buffer.resize(range.end - range.begin);
  if (file_.read_at(range.begin, bytes) != bytes.size())
    throw DataError("{}: row {}: the file ends inside it; it was cut since the start", path_, row);
  std::size_t end = bytes.size();
  const auto drop_blanks = [&] {
    while (end > 0 && is_between_rows(bytes[end - 1]))
      --end;
  };
  drop_blanks();
  if (index().layout == RecordLayout::array && row + 1 < rows() && end > 0 &&
      bytes[end - 1] == ',') {
    --end;
    drop_blanks();
  }
  buffer.truncate(end);
}

std::uint64_t RecordFile::line(std::uint64_t row) const {
  const LineIndex::KnownLine known = index_.known_line(row);
  const std::uint64_t begin = index_.row(row).begin;
  std::uint64_t line = known.line;
  std::vector<char> buffer(1 << 16);
  for (std::uint64_t at = known.byte; at < begin;) {
    const std::size_t got = file_.read_at(
        at, std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), begin - at)));
    if (got == 0) break;
    line += static_cast<std::uint64_t>(std::count(buffer.begin(), buffer.begin() + got, '\n'));
    at += got;
  }
  return line;
}

std::string RecordFile::where(std::uint64_t row) const {
  return fmt::format("{}:{}", path_, line(row));
}

}  // namespace odb
