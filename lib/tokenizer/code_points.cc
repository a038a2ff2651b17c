#include "tokenizer/code_points.h"

#include <algorithm>

#include "base/error.h"

namespace odb {

CodePointTable::CodePointTable() : page_of_{} {
  std::array<std::uint8_t, 256> page;
  std::size_t range = 0;
  for (std::uint32_t first = 0; first < 0x110000; first += 256) {
    for (std::uint32_t offset = 0; offset < 256; ++offset) {
      while (range + 1 < detail::kCodePointRangeCount &&
             detail::kCodePointRanges[range + 1].first <= first + offset) {
        ++range;
      }
      page[offset] = detail::kCodePointRanges[range].classes;
    }
    auto found = std::find(pages_.begin(), pages_.end(), page);
    if (found == pages_.end()) found = pages_.insert(pages_.end(), page);
    page_of_[first >> 8] = static_cast<std::uint8_t>(found - pages_.begin());
  }
  ODB_CHECK_LE(pages_.size(), 256U);
}

const CodePointTable& code_point_table() {
  static const CodePointTable table;
  return table;
}

}  // namespace odb
