#include "tokenizer/merges.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace odb {

MergeTable::MergeTable(const std::vector<Merge>& merges,
                       const std::array<TokenId, 256>& byte_tokens)
    : byte_tokens_(byte_tokens) {
  ODB_CHECK_LE(merges.size(), kMaxMerges);
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(64, merges.size() * 3 / 2));
  slots_.assign(slots, kFree);
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  filter_.resize(slots / 8);  // eight bits a slot
  filter_shift_ = shift_ + 3;
  merged_.reserve(merges.size());
  for (const Merge& merge : merges) {
    const std::uint64_t pair = pair_of(merge.left, merge.right);
    const std::uint64_t hash = hash_of(pair);
    filter_[hash >> filter_shift_] |= std::uint64_t{1} << (hash & 63);
    std::size_t at = hash >> shift_;
    while (slots_[at] != kFree)
      at = (at + 1) & mask_;
    slots_[at] = pair << kRankBits | merged_.size();
    merged_.push_back(merge.merged);
  }
  byte_ranks_.resize(256 * 256);
  for (unsigned left = 0; left < 256; ++left) {
    for (unsigned right = 0; right < 256; ++right) {
      byte_ranks_[left << 8 | right] = rank(byte_tokens[left], byte_tokens[right]);
    }
  }
}

}  // namespace odb
