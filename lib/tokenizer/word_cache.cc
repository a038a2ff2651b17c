#include "tokenizer/word_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace odb {

WordCache::WordCache(std::size_t sets, std::size_t long_bytes)
    : sets_(sets),
      set_shift_(64 - std::countr_zero(sets)),
      long_entries_(std::bit_ceil(std::max<std::size_t>(16, long_bytes / 64))),
      long_bytes_limit_(long_bytes) {
  ODB_CHECK(std::has_single_bit(sets) && sets > 1, "{} sets are no power of two", sets);
}

void WordCache::put(const ShortKey& key, std::size_t set, std::span<const TokenId> tokens) {
  Set& ways = sets_[set];
  ways[1] = ways[0];
  ShortEntry& entry = ways[0];
  entry.key = key;
  entry.count = static_cast<std::uint32_t>(tokens.size());
  std::copy(tokens.begin(), tokens.end(), entry.tokens.begin());
}

std::uint64_t WordCache::long_hash(std::string_view word) {
  return XXH3_64bits(word.data(), word.size());
}

std::size_t WordCache::long_slot(std::string_view word, std::uint64_t hash) const {
  std::size_t at = hash & (long_entries_.size() - 1);
  for (;; at = (at + 1) & (long_entries_.size() - 1)) {
    const LongEntry& entry = long_entries_[at];
    if (entry.length == 0) return at;
    if (entry.hash == hash && entry.length == word.size() &&
        std::memcmp(long_bytes_.data() + entry.bytes_at, word.data(), word.size()) == 0) {
      return at;
    }
  }
}

std::span<const TokenId> WordCache::find_long(std::string_view word, std::uint64_t hash) const {
  const LongEntry& entry = long_entries_[long_slot(word, hash)];
  if (entry.length == 0) return {};
  return std::span(long_tokens_).subspan(entry.tokens_at, entry.count);
}

void WordCache::put_long(std::string_view word, std::uint64_t hash,
                         std::span<const TokenId> tokens) {
  if (word.size() > kLongestWord) return;
  const std::size_t used = long_bytes_.size() + long_tokens_.size() * sizeof(TokenId);
  if (2 * (long_count_ + 1) > long_entries_.size() || used > long_bytes_limit_) {
    std::fill(long_entries_.begin(), long_entries_.end(), LongEntry{});
    long_bytes_.clear();
    long_tokens_.clear();
    long_count_ = 0;
  }
  LongEntry& entry = long_entries_[long_slot(word, hash)];
  if (entry.length != 0) return;
  entry = {.hash = hash,
           .bytes_at = static_cast<std::uint32_t>(long_bytes_.size()),
           .tokens_at = static_cast<std::uint32_t>(long_tokens_.size()),
           .length = static_cast<std::uint16_t>(word.size()),
           .count = static_cast<std::uint16_t>(tokens.size())};
  long_bytes_.insert(long_bytes_.end(), word.begin(), word.end());
  long_tokens_.insert(long_tokens_.end(), tokens.begin(), tokens.end());
  ++long_count_;
}

}  // namespace odb
