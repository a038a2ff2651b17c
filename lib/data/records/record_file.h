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

// The bytes of one record, followed by readable memory, as a JSON parser needs it. Reused from
// record to record; the memory of an unusually long record is freed with the next.
class RecordBuffer {
 public:
  // Makes room for `bytes`; the former content is lost.
  std::span<char> resize(std::size_t bytes);
  std::span<char> bytes() { return std::span(memory_).first(size_); }
  std::string_view text() const { return {memory_.data(), size_}; }
  std::size_t capacity() const { return memory_.size(); }
  void truncate(std::size_t bytes) { size_ = bytes; }  // drops the rest

 private:
  std::vector<char> memory_;
  std::size_t size_ = 0;
};

class RecordFile {
 public:
  // Opens `path`, its decompressed copy if it is compressed, and its index. Both are built if the
  // cache has none that match the file's size, time and fingerprint. No thread is left running.
  // Throws DataError (unreadable, damaged, of another kind than its name) or FileError (cache
  // cannot be written).
  RecordFile(const std::string& path, const CacheFolder& cache, const IndexBuild& build = {});

  const std::string& path() const { return path_; }  // as it was given
  std::uint64_t rows() const { return index_.rows(); }
  const IndexTrailer& index() const { return index_.trailer(); }
  // Of the whole content; equal for equal bytes at any path.
  std::string content_key() const;

  // Reads one record into `buffer`, without the blanks around it. Any thread or forked process may
  // call it, each with its own buffer. Throws DataError if the file (or the compressed file and its
  // copy) changed since it was opened.
  void read(std::uint64_t row, RecordBuffer& buffer) const;

  // The first row of the most bytes; 0 if there are no rows. Reads the whole index.
  std::uint64_t longest_row() const;

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
