// Caches the tokens of words. Natural text repeats its words, so most words cost one access to one
// cache line instead of a run of merges.
//
// Words of up to 15 bytes with up to 3 tokens are in a two-way set-associative table of 64-byte
// sets, like a processor's cache: a new word replaces the least recently used one of its set. All
// others, up to kLongestWord, are in a hash table over a block of bytes that is emptied when full.
// A short word with more tokens has an entry without tokens in the first table, which refers to the
// second. So the size is bounded for any text, and nothing is ever rehashed.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

class WordCache {
 public:
  static constexpr std::size_t kShortWord = 15;
  static constexpr std::size_t kShortTokens = 3;
  static constexpr std::size_t kLongestWord = 256;  // longer ones rarely repeat

  // A word of 1 to 15 bytes: its bytes, zeros, and its length as the last byte. All zeros: no word.
  struct ShortKey {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool is_word() const { return high != 0; }
    bool operator==(const ShortKey&) const = default;
  };

  // 32 bytes.
  struct ShortEntry {
    ShortKey key;  // no word: a free one
    std::array<TokenId, kShortTokens> tokens{};
    std::uint32_t count = 0;

    bool is(const ShortKey& other) const {
      return ((key.low ^ other.low) | (key.high ^ other.high)) == 0;
    }
  };

  // `sets` is a power of two from 2 on (64 bytes each); `long_bytes` bounds the memory of the other
  // table, roughly.
  WordCache(std::size_t sets, std::size_t long_bytes);

  // The key of the `length` bytes of `text` from `begin` on. Reads no byte outside of `text`.
  // REQUIRES: 1 <= length <= kShortWord, begin + length <= text.size().
  static ShortKey short_key(std::string_view text, std::size_t begin, std::size_t length) {
    const char* word = text.data() + begin;
    ShortKey key;
    if (begin + sizeof(key) <= text.size()) {
      const auto& mask = kMasks[length & kShortWord];  // shows the compiler that it is in bounds
      key.low = eight_at(word) & mask[0];
      key.high = eight_at(word + 8) & mask[1];
    } else if (length > 8) {
      key.low = eight_at(word);
      key.high = eight_at(word + length - 8) >> 8 * (16 - length);
    } else if (begin + length >= 8) {
      key.low = eight_at(word + length - 8) >> 8 * (8 - length);
    } else {
      std::memcpy(&key.low, word, length);
    }
    key.high |= static_cast<std::uint64_t>(length) << 56;
    return key;
  }

  std::size_t set_of(const ShortKey& key) const {
    const std::uint64_t mixed = (key.low ^ key.high * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93;
    return mixed >> set_shift_;  // the upper bits depend on every byte
  }

  // The entry of a word, or null. Valid until the next put. Of a key that is no word: null or an
  // entry without tokens.
  const ShortEntry* find(const ShortKey& key, std::size_t set) {
    Set& ways = sets_[set];
    if (ways[0].is(key)) return &ways[0];
    if (!ways[1].is(key)) return nullptr;
    std::swap(ways[0], ways[1]);
    return &ways[0];
  }
  // `tokens` is empty for a word whose tokens were put_long.
  void put(const ShortKey& key, std::size_t set, std::span<const TokenId> tokens);
  void prefetch(std::size_t set) const { __builtin_prefetch(&sets_[set]); }

  // Any other word: its tokens, or an empty span. Valid until the next put_long.
  std::span<const TokenId> find_long(std::string_view word, std::uint64_t hash) const;
  // Ignores words over kLongestWord.
  void put_long(std::string_view word, std::uint64_t hash, std::span<const TokenId> tokens);
  static std::uint64_t long_hash(std::string_view word);

 private:
  using Set = std::array<ShortEntry, 2>;
  static_assert(sizeof(ShortEntry) == 32);
  static_assert(std::endian::native == std::endian::little, "keys are shifted as integers");

  static std::uint64_t eight_at(const char* at) {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof(eight));
    return eight;
  }

  static constexpr auto kMasks = [] {
    std::array<std::array<std::uint64_t, 2>, kShortWord + 1> masks{};
    for (std::size_t length = 0; length <= kShortWord; ++length) {
      for (std::size_t byte = 0; byte < length; ++byte) {
        masks[length][byte / 8] |= 0xFFULL << byte % 8 * 8;
      }
    }
    return masks;
  }();

  struct LongEntry {
    std::uint64_t hash = 0;
    std::uint32_t bytes_at = 0;
    std::uint32_t tokens_at = 0;
    std::uint16_t length = 0;  // 0: free
    std::uint16_t count = 0;
  };

  std::size_t long_slot(std::string_view word, std::uint64_t hash) const;

  std::vector<Set> sets_;
  int set_shift_;
  std::vector<LongEntry> long_entries_;  // open addressing, at most half full
  std::size_t long_count_ = 0;
  std::size_t long_bytes_limit_;
  std::vector<char> long_bytes_;
  std::vector<TokenId> long_tokens_;
};

}  // namespace odb
