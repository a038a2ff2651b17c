// Indexing with the one type that counts and positions have here, std::int64_t: signed, so that
// differences and loops downwards are ordinary numbers, and the same on disk and on the wire.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace odb {

// range[index], for an index of any integer type, or an enum that numbers the elements. Builds with
// assertions check the bounds.
template <typename Range, typename Index>
decltype(auto) at(Range&& range, Index index) {
  assert(static_cast<std::size_t>(index) < std::size(range));  // a negative index is a huge one
  return range[static_cast<std::size_t>(index)];
}

// The part [begin, end) of a contiguous range.
template <typename Range>
auto slice(Range& range, std::int64_t begin, std::int64_t end) {
  assert(0 <= begin && begin <= end && end <= static_cast<std::int64_t>(std::size(range)));
  return std::span(range).subspan(static_cast<std::size_t>(begin),
                                  static_cast<std::size_t>(end - begin));
}

}  // namespace odb
