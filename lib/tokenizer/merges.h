// The merge rules of a BPE model: which two tokens make which third one, and in what order of
// precedence. A rule is found by its pair in one probe of a flat table (8 bytes a slot), pairs of
// single bytes by their two bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

// Place in the list of merges; lower goes first.
using MergeRank = std::uint32_t;
inline constexpr MergeRank kNoMerge = UINT32_MAX;

struct Merge {
  TokenId left;
  TokenId right;
  TokenId merged;
};

class MergeTable {
 public:
  // What the packing of a slot allows; one less, so that no pair looks like a free slot.
  static constexpr TokenId kMaxTokens = (1 << 21) - 1;
  static constexpr MergeRank kMaxMerges = (1 << 22) - 1;

  // `merges` in order of precedence, no pair twice, each id under kMaxTokens, at most kMaxMerges;
  // byte_tokens[b] is the token of the single byte b.
  MergeTable(const std::vector<Merge>& merges, const std::array<TokenId, 256>& byte_tokens);

  MergeRank rank(TokenId left, TokenId right) const {
    const std::uint64_t pair = pair_of(left, right);
    const std::uint64_t hash = hash_of(pair);
    if (!(filter_[hash >> filter_shift_] >> (hash & 63) & 1)) return kNoMerge;
    for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
      const std::uint64_t slot = slots_[at];
      if (slot >> kRankBits == pair) return static_cast<MergeRank>(slot & kRankMask);
      if (slot == kFree) return kNoMerge;
    }
  }

  MergeRank rank_of_bytes(std::uint8_t left, std::uint8_t right) const {
    return byte_ranks_[left << 8 | right];
  }

  TokenId byte_token(std::uint8_t byte) const { return byte_tokens_[byte]; }
  TokenId merged(MergeRank rank) const { return merged_[rank]; }
  std::size_t size() const { return merged_.size(); }

 private:
  static constexpr int kRankBits = 22;
  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kRankMask = (1 << kRankBits) - 1;
  static constexpr std::uint64_t kFree = UINT64_MAX;

  static std::uint64_t pair_of(TokenId left, TokenId right) {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  static std::uint64_t hash_of(std::uint64_t pair) {
    const std::uint64_t product = pair * 0x9E3779B97F4A7C15;
    return product ^ product >> 32;
  }

  std::vector<std::uint64_t> slots_;
  // One bit per hash, small enough for a core's own cache: most pairs do not merge, and most of
  // these are rejected by it without a lookup in the large table.
  std::vector<std::uint64_t> filter_;
  std::vector<TokenId> merged_;
  std::vector<MergeRank> byte_ranks_;
  std::array<TokenId, 256> byte_tokens_;
  std::size_t mask_ = 0;
  int shift_ = 0;
  int filter_shift_ = 0;
};

}  // namespace odb
