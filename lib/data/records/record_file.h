// One data file as an array of records: row number in, JSON bytes out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/records/cache_folder.h"
#include "data/records/data_file.h"
#include "data/records/index_builder.h"
#include "data/records/line_index.h"

namespace odb {

// The bytes of one record, in memory that a JSON parser may read beyond their end. Reused from
// record to record; gives the memory of an unusually long one back with the next.
class RecordBuffer {
 public:
  // Makes room for `bytes`; the former content is lost.
  std::span<char> resize(std::size_t bytes);
  std::span<char> bytes() { return std::span(memory_).first(size_); }
  std::string_view text() const { return {memory_.data(), size_}; }
  std::size_t capacity() const { return memory_.size(); }
  void truncate(std::size_t bytes) { size_ = bytes; }  // drops what is behind

 private:
  std::vector<char> memory_;
  std::size_t size_ = 0;
};

class RecordFile {
 public:
  // Opens `path`, its decompressed copy first where it is compressed, and its index; both are made
  // where the cache has none that fit the file's size, time and fingerprint. Afterwards no thread
  // is left. Throws DataError (unreadable, damaged) or FileError (cache cannot be written).
  RecordFile(const std::string& path, const CacheFolder& cache, const IndexBuild& build = {});

  const std::string& path() const { return path_; }  // as it was given
  std::uint64_t rows() const { return index_.rows(); }
  const IndexTrailer& index() const { return index_.trailer(); }
  // Of the whole content; equal for equal bytes wherever they lie.
  std::string content_key() const;

  // Reads one record into `buffer`, without the blanks around it. Any thread or forked process,
  // each with its own buffer. Throws DataError when the file (of a compressed one: also its copy)
  // changed since it was opened.
  void read(std::uint64_t row, RecordBuffer& buffer) const;

  // Line of the row's first byte, from 1, and "path:line" for messages. Reads up to 256 rows.
  std::uint64_t line(std::uint64_t row) const;
  std::string where(std::uint64_t row) const;

 private:
  std::string path_;
  std::optional<DataFile> compressed_;  // what `file_` is the copy of
  DataFile file_;
  LineIndex index_;
};

}  // namespace odb
