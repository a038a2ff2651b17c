// The ids and labels of the samples that collate holds: those of its window and of the groups that
// wait for a slot.
//
// They lie in chains of fixed-size blocks, so that samples of any length come and go in any order
// without allocation: memory grows to the maximum held at a time and is then reused.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "batching/item.h"
#include "tokenizer/token_id.h"

namespace odb {

class SampleStore {
 public:
  SampleStore();

  // Stores a copy. `ids` and `labels` have equal length; the view is not held yet (checked).
  void put(ViewId view, std::span<const TokenId> ids, std::span<const std::int32_t> labels);

  // Copies a held sample to the beginning of `ids` and `labels`, and removes it. Returns its
  // length. The view is held and fits (checked).
  std::size_t take(ViewId view, std::span<TokenId> ids, std::span<std::int32_t> labels);

  // Removes a held sample.
  void drop(ViewId view) { take(view, {}, {}); }

  void clear();  // removes all samples, keeps the memory
  std::size_t size() const { return held_; }

 private:
  static constexpr std::size_t kBlockTokens = 62;
  static constexpr std::size_t kBlocksOfChunk = 1024;  // half a megabyte
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Block {
    std::uint32_t next;
    std::uint32_t unused;
    TokenId ids[kBlockTokens];
    std::int32_t labels[kBlockTokens];
  };
  // An entry of the table of held views: open addressing, linear probing, at most half full.
  struct Entry {
    ViewId view = kFree;
    std::uint32_t first_block = kNone;
    std::uint32_t length = 0;
  };
  static constexpr ViewId kFree = -1;

  Block& block(std::uint32_t number) {
    return chunks_[number / kBlocksOfChunk][number % kBlocksOfChunk];
  }
  std::uint32_t free_block();
  std::size_t home(ViewId view) const;
  std::size_t find(ViewId view) const;  // its index, or the free one for it
  void grow();
  void erase(std::size_t place);

  std::vector<std::unique_ptr<Block[]>> chunks_;  // of kBlocksOfChunk blocks
  std::uint32_t first_free_ = kNone;
  std::uint32_t blocks_ = 0;  // of all chunks
  std::vector<Entry> table_;
  std::size_t held_ = 0;
};

}  // namespace odb
