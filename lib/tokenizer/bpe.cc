#include "tokenizer/bpe.h"

#include <algorithm>
#include <array>
#include <functional>

namespace odb {

void BytePairEncoder::encode(std::string_view word, std::vector<TokenId>& out) {
  if (word.size() <= kShortWord) {
    encode_short(word, out);
  } else {
    encode_long(word, out);
  }
}

// offers[i] is the rank of the pair that begins at token i, with i in the lowest bits: the smallest
// offer names the pair to merge, leftmost first, without a branch. Merged-away tokens offer
// nothing.
void BytePairEncoder::encode_short(std::string_view word, std::vector<TokenId>& out) const {
  std::array<TokenId, kShortWord> tokens;
  std::array<std::uint32_t, kShortWord> offers;
  std::array<std::uint8_t, kShortWord + 1> next;
  std::array<std::uint8_t, kShortWord + 1> previous;
  const auto count = static_cast<std::uint32_t>(word.size());
  if (count == 0) return;
  const auto offer = [](MergeRank rank, std::uint32_t place) {
    return rank == kNoMerge ? kNoMerge : rank << kPositionBits | place;
  };
  const auto byte = [word](std::uint32_t place) { return static_cast<std::uint8_t>(word[place]); };
  for (std::uint32_t i = 0; i < count; ++i) {
    tokens[i] = merges_.byte_token(byte(i));
    next[i] = static_cast<std::uint8_t>(i + 1);
    previous[i + 1] = static_cast<std::uint8_t>(i);
    if (i + 1 < count) offers[i] = offer(merges_.rank_of_bytes(byte(i), byte(i + 1)), i);
  }
  while (true) {
    std::uint32_t best = kNoMerge;
    for (std::uint32_t i = 0; i + 1 < count; ++i)
      best = std::min(best, offers[i]);
    if (best == kNoMerge) break;
    const std::uint32_t left = best & ((1 << kPositionBits) - 1);
    const std::uint32_t right = next[left];
    const std::uint32_t after = next[right];
    tokens[left] = merges_.merged(best >> kPositionBits);
    next[left] = static_cast<std::uint8_t>(after);
    previous[after] = static_cast<std::uint8_t>(left);
    if (right + 1 < count) offers[right] = kNoMerge;
    offers[left] =
        after == count ? kNoMerge : offer(merges_.rank(tokens[left], tokens[after]), left);
    if (left > 0) {
      const std::uint32_t before = previous[left];
      offers[before] = offer(merges_.rank(tokens[before], tokens[left]), before);
    }
  }
  for (std::uint32_t i = 0; i < count; i = next[i])
    out.push_back(tokens[i]);
}

void BytePairEncoder::offer(std::uint32_t left) {
  const std::uint32_t right = nodes_[left].next;
  if (right == kEnd) return;
  const MergeRank rank = merges_.rank(nodes_[left].token, nodes_[right].token);
  if (rank == kNoMerge) return;
  heap_.push_back(static_cast<std::uint64_t>(rank) << 32 | left);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void BytePairEncoder::encode_long(std::string_view word, std::vector<TokenId>& out) {
  const auto count = static_cast<std::uint32_t>(word.size());
  nodes_.resize(count);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<std::uint8_t>(word[i]);
    nodes_[i] = {merges_.byte_token(byte), i - 1, i + 1 < count ? i + 1 : kEnd};
    if (i + 1 == count) break;
    const MergeRank rank = merges_.rank_of_bytes(byte, static_cast<std::uint8_t>(word[i + 1]));
    if (rank != kNoMerge) heap_.push_back(static_cast<std::uint64_t>(rank) << 32 | i);
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const std::uint64_t top = heap_.back();
    heap_.pop_back();
    const auto left = static_cast<std::uint32_t>(top);
    const auto rank = static_cast<MergeRank>(top >> 32);
    Node& node = nodes_[left];
    // An offer is stale when either side was merged since: its pair has another rank now, or none.
    if (node.token == kGone || node.next == kEnd) continue;
    Node& right = nodes_[node.next];
    if (merges_.rank(node.token, right.token) != rank) continue;
    node.token = merges_.merged(rank);
    node.next = right.next;
    right.token = kGone;
    if (node.next != kEnd) nodes_[node.next].previous = left;
    offer(left);
    if (node.previous != kEnd) offer(node.previous);
  }
  for (std::uint32_t at = 0; at != kEnd; at = nodes_[at].next)
    out.push_back(nodes_[at].token);
  if (nodes_.size() > kKeptNodes) {  // do not hold the memory of one odd text for good
    nodes_ = {};
    heap_ = {};
  }
}

}  // namespace odb
