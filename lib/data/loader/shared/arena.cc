#include "data/loader/shared/arena.h"

#include <algorithm>

#include "batching/group.h"

namespace odb {
namespace {

// Where the arrays of a slot begin. A row has at least one token, so `positions` also bounds rows.
struct SlotOffsets {
  explicit SlotOffsets(const ArenaShape& shape, std::size_t head_bytes) {
    const auto padded_tokens = static_cast<std::size_t>(shape.padded_tokens);
    std::size_t end = aligned(head_bytes, kCacheLine);
    const auto add = [&](std::size_t bytes) {
      const std::size_t begin = end;
      end = aligned(end + bytes, kCacheLine);
      return begin;
    };
    ids = add(padded_tokens * sizeof(TokenId));
    labels = add(padded_tokens * sizeof(std::int32_t));
    offsets = add((padded_tokens + 1) * sizeof(std::int32_t));
    views = add(padded_tokens * sizeof(ViewId));
    always_used = end;
    left_out = add(static_cast<std::size_t>(shape.left_out) * sizeof(LeftOut));
    total = aligned(end, kPage);
  }

  std::size_t ids, labels, offsets, views, left_out, always_used, total;
};

constexpr std::size_t kHeadBytes = 512;

}  // namespace

std::size_t ArenaShape::slot_bytes() const {
  return SlotOffsets(*this, kHeadBytes).total;
}

std::size_t ArenaShape::worst_bytes() const {
  return static_cast<std::size_t>(slots) * SlotOffsets(*this, kHeadBytes).always_used;
}

std::int64_t max_padded_tokens(const BatchingOptions& resolved, std::int64_t longest) {
  const std::int64_t row = cost_model(resolved).row_length(longest);
  return keeps_budget(resolved.strategy) ? std::max(resolved.l_max, row)
                                         : resolved.batch_size * row;
}

Arena::Arena(const std::string& name, const ArenaShape& shape)
    : shape_(shape), shared_(name + "-words"), memory_(name, shape.bytes()) {
  static_assert(sizeof(SlotHead) <= kHeadBytes);
  ODB_CHECK_GE(shape.slots, 2);
}

void Arena::clear() {
  shared_.clear();
  memory_.clear();
}

Arena::SlotHead& Arena::head(std::int64_t sequence) const {
  const auto slot = static_cast<std::size_t>(sequence % shape_.slots);
  return memory_.objects<SlotHead>(slot * shape_.slot_bytes(), 1).front();
}

// The marks in the slots decide. The shared `next` may be too small: a process may die between the
// two stores of publish(). A released slot may be overwritten, so its mark no longer counts.
std::int64_t Arena::next_sequence() const {
  const std::int64_t released = shared_->released.load(std::memory_order_acquire);
  std::int64_t next = std::max(released, shared_->next.load(std::memory_order_acquire));
  while (is_published(next))
    ++next;
  return next;
}

bool Arena::is_free(std::int64_t sequence) const {
  return sequence < shared_->released.load(std::memory_order_acquire) + shape_.slots;
}

SlotBuffers Arena::buffers(std::int64_t sequence) const {
  const SlotOffsets at(shape_, kHeadBytes);
  const auto slot = static_cast<std::size_t>(sequence % shape_.slots);
  const std::size_t begin = slot * at.total;
  const auto padded_tokens = static_cast<std::size_t>(shape_.padded_tokens);
  return {.header = &head(sequence).header,
          .ids = memory_.objects<TokenId>(begin + at.ids, padded_tokens),
          .labels = memory_.objects<std::int32_t>(begin + at.labels, padded_tokens),
          .offsets = memory_.objects<std::int32_t>(begin + at.offsets, padded_tokens + 1),
          .views = memory_.objects<ViewId>(begin + at.views, padded_tokens),
          .left_out = memory_.objects<LeftOut>(begin + at.left_out,
                                               static_cast<std::size_t>(shape_.left_out))};
}

void Arena::publish(std::int64_t sequence) {
  ODB_CHECK(is_free(sequence), "position {} is written before it was released", sequence);
  head(sequence).published.store(sequence + 1, std::memory_order_release);
  shared_->next.store(sequence + 1, std::memory_order_release);
  shared_->published.wake();
}

bool Arena::is_published(std::int64_t sequence) const {
  return head(sequence).published.load(std::memory_order_acquire) == sequence + 1;
}

BatchView Arena::view(std::int64_t sequence) const {
  ODB_CHECK(is_published(sequence), "position {} is read before it was published", sequence);
  const SlotBuffers buffers = this->buffers(sequence);
  const SlotHeader header = *buffers.header;
  const auto fits = [](std::int64_t count, std::size_t room) {
    return count >= 0 && static_cast<std::size_t>(count) <= room;
  };
  ODB_CHECK(header.sequence == sequence && fits(header.padded_tokens, buffers.ids.size()) &&
                fits(header.rows, buffers.views.size()) &&
                fits(header.left_out, buffers.left_out.size()),
            "the slot of position {} holds position {}, {} rows, {} positions, {} rows left out; "
            "the shared memory is damaged",
            sequence, header.sequence, header.rows, header.padded_tokens, header.left_out);
  const auto rows = static_cast<std::size_t>(header.rows);
  const auto padded_tokens = static_cast<std::size_t>(header.padded_tokens);
  return {.header = header,
          .ids = buffers.ids.first(padded_tokens),
          .labels = buffers.labels.first(padded_tokens),
          .offsets = buffers.offsets.first(rows + 1),
          .views = buffers.views.first(rows),
          .left_out = buffers.left_out.first(static_cast<std::size_t>(header.left_out))};
}

void Arena::release(std::int64_t sequence) {
  ODB_CHECK_EQ(sequence, shared_->released.load(std::memory_order_relaxed));
  shared_->released.store(sequence + 1, std::memory_order_release);
  shared_->freed.wake();
}

}  // namespace odb
