#include "batching/sampler.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace odb {
namespace {

// Where share `index` begins when `count` things are divided into `world` shares. The shares that
// are one larger start at `first_large` (cyclic), so that leftovers and progressions do not both
// favor rank 0.
struct Shares {
  std::int64_t count;
  int world;
  int first_large;

  std::int64_t size(int index) const {
    const std::int64_t large = count % world;
    const std::int64_t place = (index - first_large + world) % world;
    return count / world + (place < large ? 1 : 0);
  }
};

// The part of `whole` with elements `begin`..`end`-1.
Progression cut(const Progression& whole, std::int64_t begin, std::int64_t end) {
  return {.start = whole.at(begin), .stride = whole.stride, .end = whole.at(end - 1) + 1};
}

}  // namespace

std::int64_t Progression::count() const {
  return start >= end ? 0 : (end - start + stride - 1) / stride;
}

std::int64_t SamplerPosition::remaining() const {
  std::int64_t count = leftover_end - leftover_begin;
  for (const Progression& progression : progressions)
    count += progression.count();
  return count;
}

SamplerPosition first_position(std::int64_t size, int rank, int world) {
  ODB_CHECK(world >= 1 && rank >= 0 && rank < world, "rank {} of {}", rank, world);
  SamplerPosition position;
  if (rank < size) position.progressions.push_back({.start = rank, .stride = world, .end = size});
  return position;
}

std::vector<SamplerPosition> share_out(std::int64_t leftover_count,
                                       std::span<const Progression> undrawn, int world) {
  std::int64_t undrawn_count = 0;
  for (const Progression& progression : undrawn)
    undrawn_count += progression.count();
  const Shares leftovers{leftover_count, world, 0};
  const Shares positions{undrawn_count, world, static_cast<int>(leftover_count % world)};

  std::vector<SamplerPosition> shares(static_cast<std::size_t>(world));
  std::int64_t next_leftover = 0;
  std::size_t source = 0;        // the progression being cut
  std::int64_t cut_already = 0;  // its elements that are already dealt
  for (int rank = 0; rank < world; ++rank) {
    SamplerPosition& share = at(shares, rank);
    share.leftover_begin = next_leftover;
    share.leftover_end = next_leftover += leftovers.size(rank);
    for (std::int64_t needed = positions.size(rank); needed > 0;) {
      const std::int64_t left = undrawn[source].count() - cut_already;
      const std::int64_t taken = std::min(left, needed);
      if (taken > 0)
        share.progressions.push_back(cut(undrawn[source], cut_already, cut_already + taken));
      needed -= taken;
      cut_already += taken;
      if (taken == left) {
        ++source;
        cut_already = 0;
      }
    }
  }
  return shares;
}

Sampler::Sampler(const Permutation& order, LeftoverList leftovers, SamplerPosition position)
    : order_(order), leftovers_(std::move(leftovers)), position_(std::move(position)) {
  const auto known = static_cast<std::int64_t>(leftovers_ ? leftovers_->size() : 0);
  ODB_CHECK(
      position_.leftover_begin >= 0 && position_.leftover_begin <= position_.leftover_end &&
          (position_.leftover_begin == position_.leftover_end || position_.leftover_end <= known),
      "leftovers {}..{} of a list of {}", position_.leftover_begin, position_.leftover_end, known);
  for (const Progression& p : position_.progressions)
    ODB_CHECK(p.start >= 0 && p.stride >= 1 && p.end <= order_.size(),
              "positions {}, {} + {}, ... < {} of {}", p.start, p.start, p.stride, p.end,
              order_.size());
  std::erase_if(position_.progressions, [](const Progression& p) { return p.count() == 0; });
  remaining_ = position_.remaining();
  next_leftover_ = position_.leftover_begin;
  if (!position_.progressions.empty()) next_element_ = position_.progressions.front().start;
}

void Sampler::know(std::int64_t count) const {
  count = std::min(count, remaining_);
  while (static_cast<std::int64_t>(ahead_.size()) < count) {
    if (next_leftover_ < position_.leftover_end) {
      ahead_.push_back(at(*leftovers_, next_leftover_++));
      continue;
    }
    const Progression& progression = position_.progressions[next_progression_];
    ahead_.push_back(order_(next_element_));
    next_element_ += progression.stride;
    if (next_element_ >= progression.end && ++next_progression_ < position_.progressions.size())
      next_element_ = position_.progressions[next_progression_].start;
  }
}

void Sampler::peek(std::int64_t limit, std::vector<ViewId>& views) const {
  know(limit);
  const auto known = static_cast<std::int64_t>(ahead_.size());
  views.insert(views.end(), ahead_.begin(), ahead_.begin() + std::min(limit, known));
}

ViewId Sampler::next() const {
  ODB_CHECK_GT(remaining_, 0);
  know(1);
  return ahead_.front();
}

void Sampler::advance() {
  ODB_CHECK_GT(remaining_, 0);
  know(1);
  ahead_.pop_front();
  --remaining_;
  if (position_.leftover_begin < position_.leftover_end) {
    ++position_.leftover_begin;
    return;
  }
  Progression& front = position_.progressions.front();
  front.start += front.stride;
  if (front.start >= front.end) {
    position_.progressions.erase(position_.progressions.begin());
    --next_progression_;
  }
}

}  // namespace odb
