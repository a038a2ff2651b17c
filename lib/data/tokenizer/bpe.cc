#include "data/tokenizer/bpe.h"

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

void BytePairEncoder::encode_short(std::string_view word, std::vector<TokenId>& out) const {
  std::array<TokenId, kShortWord> tokens;
  std::array<MergeRank, kShortWord> ranks;  // of the pair that begins at a token
  std::size_t count = word.size();
  if (count == 0) return;
  const auto byte = [word](std::size_t i) { return static_cast<std::uint8_t>(word[i]); };
  for (std::size_t i = 0; i + 1 < count; ++i) {
    tokens[i] = merges_.byte_token(byte(i));
    ranks[i] = merges_.rank_of_bytes(byte(i), byte(i + 1));
  }
  tokens[count - 1] = merges_.byte_token(byte(count - 1));
  while (count > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      best = ranks[i] < ranks[best] ? i : best;
    }
    if (ranks[best] == kNoMerge) break;
    tokens[best] = merges_.merged(ranks[best]);
    --count;
    std::copy(tokens.begin() + best + 2, tokens.begin() + count + 1, tokens.begin() + best + 1);
    if (best + 1 < count) {
      std::copy(ranks.begin() + best + 2, ranks.begin() + count, ranks.begin() + best + 1);
      ranks[best] = merges_.rank(tokens[best], tokens[best + 1]);
    }
    if (best > 0) ranks[best - 1] = merges_.rank(tokens[best - 1], tokens[best]);
  }
  out.insert(out.end(), tokens.begin(), tokens.begin() + count);
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
