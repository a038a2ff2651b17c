// Byte-pair encoding of one word: starting from its bytes, the merge of lowest rank is applied, the
// leftmost one first among equals, until none is left (Sennrich et al. 2016; the order is that of
// Hugging Face tokenizers). Short words rescan a small array after each merge, which beats any
// cleverer structure; long ones use a heap, so that a megabyte without a blank stays
// O(n log n).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/merges.h"
#include "tokenizer/token_id.h"

namespace odb {

class BytePairEncoder {
 public:
  // Keeps a reference to `merges`, which must outlive it. One per thread: it holds working space.
  explicit BytePairEncoder(const MergeTable& merges) : merges_(merges) {}

  // Appends the tokens of `word` (any bytes) to `out`.
  void encode(std::string_view word, std::vector<TokenId>& out);

  // Words of up to this many bytes take the array; a position must fit kPositionBits.
  static constexpr std::size_t kShortWord = 96;

 private:
  static constexpr int kPositionBits = 7;
  static_assert(kShortWord <= 1 << kPositionBits);
  static_assert(MergeTable::kMaxMerges < kNoMerge >> kPositionBits);

  // A token of a long word; they form a list in order of position.
  struct Node {
    TokenId token;
    std::uint32_t previous;
    std::uint32_t next;  // kEnd: the last
  };
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  static constexpr std::size_t kKeptNodes = 1 << 16;
  static constexpr TokenId kGone = -1;  // merged into the node on its left

  void encode_short(std::string_view word, std::vector<TokenId>& out) const;
  void encode_long(std::string_view word, std::vector<TokenId>& out);
  void offer(std::uint32_t left);

  const MergeTable& merges_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> heap_;  // rank << 32 | position of the left token; smallest on top
};

}  // namespace odb
