#include "data/loader/samples/sample_store.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::size_t kFirstTable = 4096;

}  // namespace

SampleStore::SampleStore() : table_(kFirstTable) {}

std::size_t SampleStore::home(ViewId view) const {
  // Fibonacci hashing; the upper bits are the mixed ones.
  const auto mixed = static_cast<std::uint64_t>(view) * 0x9E3779B97F4A7C15;
  return (mixed >> 32) & (table_.size() - 1);
}

std::size_t SampleStore::find(ViewId view) const {
  std::size_t place = home(view);
  while (table_[place].view != kFree && table_[place].view != view)
    place = (place + 1) & (table_.size() - 1);
  return place;
}

void SampleStore::grow() {
  std::vector<Entry> old(table_.size() * 2);
  std::swap(old, table_);
  for (const Entry& entry : old)
    if (entry.view != kFree) table_[find(entry.view)] = entry;
}

// Moves later entries of the same run into the gap, so that no search ends before it finds them.
void SampleStore::erase(std::size_t place) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = place;
  for (std::size_t next = (hole + 1) & mask; table_[next].view != kFree; next = (next + 1) & mask) {
    const std::size_t from_home = (next - home(table_[next].view)) & mask;
    if (from_home < ((next - hole) & mask)) continue;
    table_[hole] = table_[next];
    hole = next;
  }
  table_[hole] = {};
  --held_;
}

std::uint32_t SampleStore::free_block() {
  if (first_free_ == kNone) {
    chunks_.push_back(std::make_unique_for_overwrite<Block[]>(kBlocksOfChunk));
    for (std::uint32_t i = kBlocksOfChunk; i-- > 0;) {
      chunks_.back()[i].next = first_free_;
      first_free_ = blocks_ + i;
    }
    blocks_ += kBlocksOfChunk;
  }
  return std::exchange(first_free_, block(first_free_).next);
}

void SampleStore::put(ViewId view, std::span<const TokenId> ids,
                      std::span<const std::int32_t> labels) {
  ODB_CHECK_EQ(ids.size(), labels.size());
  if (2 * (held_ + 1) > table_.size()) grow();
  Entry& entry = table_[find(view)];
  ODB_CHECK(entry.view == kFree, "sample {} is held already", view);
  entry = {.view = view, .length = static_cast<std::uint32_t>(ids.size())};
  ++held_;
  std::uint32_t* link = &entry.first_block;
  for (std::size_t at = 0; at < ids.size(); at += kBlockTokens) {
    const std::size_t count = std::min(kBlockTokens, ids.size() - at);
    *link = free_block();
    Block& into = block(*link);
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(at), count, into.ids);
    std::copy_n(labels.begin() + static_cast<std::ptrdiff_t>(at), count, into.labels);
    into.next = kNone;
    link = &into.next;
  }
}

std::size_t SampleStore::take(ViewId view, std::span<TokenId> ids, std::span<std::int32_t> labels) {
  const std::size_t place = find(view);
  const Entry entry = table_[place];
  ODB_CHECK(entry.view == view, "sample {} is not held", view);
  const bool copies = !ids.empty();
  ODB_CHECK(!copies || (ids.size() >= entry.length && labels.size() >= entry.length),
            "sample {} of {} tokens into {}", view, entry.length, ids.size());
  std::uint32_t number = entry.first_block;
  for (std::size_t at = 0; at < entry.length; at += kBlockTokens) {
    Block& from = block(number);
    if (copies) {
      const std::size_t count = std::min(kBlockTokens, entry.length - at);
      std::copy_n(from.ids, count, ids.begin() + static_cast<std::ptrdiff_t>(at));
      std::copy_n(from.labels, count, labels.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const std::uint32_t next = std::exchange(from.next, first_free_);
    first_free_ = std::exchange(number, next);
  }
  erase(place);
  return entry.length;
}

void SampleStore::clear() {
  for (std::size_t place = 0; place < table_.size();)
    if (table_[place].view != kFree)
      drop(table_[place].view);
    else
      ++place;
}

}  // namespace odb
