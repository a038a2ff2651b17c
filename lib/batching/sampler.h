// The order in which a rank draws: leftover ids first, then arithmetic progressions over the
// positions of the epoch's order.
//
// Rank r of W starts with the one progression r, r + W, ... < N. Any number of ranks can share out
// what others had not drawn (share_out): the result has the same form, and a change of W adds at
// most W - 1 progressions in total, so it can be repeated any number of times.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/permutation.h"
#include "batching/item.h"

namespace odb {

// start, start + stride, ... < end. Empty when start >= end. stride >= 1.
struct Progression {
  std::int64_t start = 0;
  std::int64_t stride = 1;
  std::int64_t end = 0;

  std::int64_t count() const;
  std::int64_t at(std::int64_t index) const { return start + index * stride; }
  friend bool operator==(const Progression&, const Progression&) = default;
};

// What a rank still has to draw. leftover_begin..leftover_end are indexes into the list of leftover
// ids of the last change of W, which is saved once for all ranks.
struct SamplerPosition {
  std::int64_t leftover_begin = 0;
  std::int64_t leftover_end = 0;
  std::vector<Progression> progressions;

  std::int64_t remaining() const;
  friend bool operator==(const SamplerPosition&, const SamplerPosition&) = default;
};

// The whole epoch of rank `rank` of `world` over `size` positions.
SamplerPosition first_position(std::int64_t size, int rank, int world);

// Deals `leftover_count` leftovers and the progressions of `undrawn` to `world` ranks, as evenly as
// possible (counts differ by at most one), in contiguous pieces. Element r is rank r's.
std::vector<SamplerPosition> share_out(std::int64_t leftover_count,
                                       std::span<const Progression> undrawn, int world);

using LeftoverList = std::shared_ptr<const std::vector<ViewId>>;

// Draws views one by one. Looking ahead draws nothing. Not thread-safe, not even its const members:
// they cache the views ahead.
class Sampler {
 public:
  // `leftovers` may be null when the position names none.
  Sampler(const Permutation& order, LeftoverList leftovers, SamplerPosition position);

  // Appends up to `limit` of the next views.
  void peek(std::int64_t limit, std::vector<ViewId>& views) const;
  // Returns the next view; moves past it. remaining() > 0 (checked).
  ViewId next() const;
  void advance();

  std::int64_t remaining() const { return remaining_; }
  const SamplerPosition& position() const { return position_; }

 private:
  void know(std::int64_t count) const;

  Permutation order_;
  LeftoverList leftovers_;
  SamplerPosition position_;  // without used-up progressions
  std::int64_t remaining_ = 0;

  // Next views that are already computed, and where the view after them comes from.
  mutable std::deque<ViewId> ahead_;
  mutable std::int64_t next_leftover_;
  mutable std::size_t next_progression_ = 0;
  mutable std::int64_t next_element_ = 0;  // as a position of the order
};

}  // namespace odb
