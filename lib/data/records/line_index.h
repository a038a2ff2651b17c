// Where every record of a data file starts: a file of fixed-width entries that is mapped and used
// in place, so opening takes the same time for a hundred rows as for a hundred million.
//
// Byte format (little-endian), version 2:
//   blocks   one per 256 rows: checksum u64 of the rest of the block, first_byte u64, first_line
//            u64, then 256 distances from first_byte, u32 each, or u64 where a block spans 4 GiB or
//            more (one width per file)
//   trailer  128 bytes, struct IndexTrailer
// A row ends where the next one starts, less the blanks and commas between them. Lines count
// from 1. Four bytes a row: 0.4 GB for 100 million rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/checksum.h"
#include "data/records/data_file.h"

namespace odb {

// The layout of the records in a file.
enum class RecordLayout : std::uint32_t {
  lines = 0,  // JSON Lines: one object per line
  array = 1   // one JSON array of objects
};

struct IndexTrailer {
  char magic[8] = {'O', 'D', 'B', 'I', 'N', 'D', 'E', 'X'};
  std::uint32_t version = 2;
  std::uint32_t distance_bytes = 4;
  RecordLayout layout = RecordLayout::lines;
  std::uint32_t reserved = 0;
  std::uint64_t rows = 0;
  std::uint64_t data_end = 0;     // end of the last row
  std::uint64_t longest_row = 0;  // bytes, including the blanks after it
  FileStamp stamp;                // of the data file
  Checksum128 fingerprint;        // DataFile::fingerprint
  Checksum128 content;            // of all bytes, by pieces of 8 MiB
  std::uint64_t unused[3] = {};
  std::uint64_t checksum = 0;  // of the bytes above
};
static_assert(sizeof(IndexTrailer) == 128);

constexpr std::uint64_t kRowsPerIndexBlock = 256;
// Checksum, first byte and first line of a block.
constexpr std::uint64_t kIndexBlockHead = 3 * sizeof(std::uint64_t);

// Checksum of a trailer's bytes before `checksum`.
std::uint64_t trailer_checksum(const IndexTrailer& trailer);

class LineIndex {
 public:
  struct Range {
    std::uint64_t begin = 0;  // byte offsets into the data file
    std::uint64_t end = 0;
  };

  // Maps an index file. nullopt if it is missing, cut, damaged or of another version: then it must
  // be rebuilt.
  static std::optional<LineIndex> open(const std::string& path);

  LineIndex(LineIndex&& other) noexcept;
  LineIndex& operator=(LineIndex&& other) noexcept;
  ~LineIndex();

  const IndexTrailer& trailer() const { return trailer_; }
  std::uint64_t rows() const { return trailer_.rows; }
  // From the row's first byte to the next row's first byte; 0 <= row < rows() (checked). This and
  // known_line throw DataError naming the index when the row's block is damaged.
  Range row(std::uint64_t row) const;
  // A row at or before `row` whose line number is known, and that number.
  struct KnownLine {
    std::uint64_t byte = 0;
    std::uint64_t line = 0;
  };
  KnownLine known_line(std::uint64_t row) const;

 private:
  LineIndex(std::string path, const char* bytes, std::uint64_t size, const IndexTrailer& trailer)
      : path_(std::move(path)), bytes_(bytes), size_(size), trailer_(trailer) {}
  const char* sound_block(std::uint64_t row) const;
  std::uint64_t start(const char* block, std::uint64_t row) const;
  void unmap() noexcept;

  std::string path_;
  const char* bytes_ = nullptr;  // the mapping, owned
  std::uint64_t size_ = 0;
  IndexTrailer trailer_;
};

}  // namespace odb
