// Finds the rows of JSON Lines data, one piece of the file at a time, so that pieces can be scanned
// in parallel and joined in order.
//
// Only a line feed ends a line (U+2028, U+2029, U+0085 and a lone carriage return are text). A line
// of blanks (space, tab, carriage return) is not a row. A row belongs to the piece that holds its
// first non-blank byte.
#pragma once

#include <cstdint>
#include <vector>

#include "data/records/data_file.h"

namespace odb {

struct ScannedPiece {
  struct Row {
    std::uint32_t start = 0;      // byte offset in the piece
    std::uint32_t line_ends = 0;  // line feeds in the piece before it
  };
  std::vector<Row> rows;
  std::uint64_t line_ends = 0;  // line feeds in the piece
  std::uint64_t checksum = 0;   // XXH3-64 of its bytes
};

constexpr std::uint64_t kPieceBytes = 8 * 1024 * 1024;

// Scans bytes [begin, end) of `file`; begin is a multiple of kPieceBytes, end - begin at most that.
// The first `skip` bytes of the file (a byte order mark) count as blanks. Throws DataError when the
// file is shorter than `end`.
ScannedPiece scan_lines(const DataFile& file, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t skip);

}  // namespace odb
