// Writes the index file of line_index.h, row after row, in constant memory. LineIndex refuses it
// until it is complete.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/files.h"
#include "data/records/line_index.h"

namespace odb {

class IndexWriter {
 public:
  // `distance_bytes` is 4 or 8.
  IndexWriter(FileSystem& files, const std::string& path, std::uint32_t distance_bytes);

  // Call in file order. Returns false if a block spans more than `distance_bytes` can hold: then
  // discard this writer and start over with a wider one.
  [[nodiscard]] bool add(std::uint64_t first_byte, std::uint64_t line);

  // Completes the trailer (rows, longest_row, checksum) and syncs the file. All other fields of
  // `trailer` must be set.
  void commit(IndexTrailer trailer);

  std::uint64_t rows() const { return rows_; }

 private:
  void write_block();

  OutputFile file_;
  std::uint32_t distance_bytes_;
  std::uint64_t rows_ = 0;
  std::uint64_t longest_row_ = 0;
  std::uint64_t last_start_ = 0;
  std::uint64_t block_first_byte_ = 0;
  std::uint64_t block_first_line_ = 0;
  std::array<std::uint64_t, kRowsPerIndexBlock> distances_{};
  std::string pending_;
};

}  // namespace odb
