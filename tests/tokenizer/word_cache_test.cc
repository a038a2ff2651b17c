#include "tokenizer/word_cache.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "catch.h"

using namespace odb;
using Ids = std::vector<TokenId>;

namespace {

Ids known_short(WordCache& cache, const std::string& word) {
  const auto key = WordCache::short_key(word, 0, word.size());
  const auto* entry = cache.find(key, cache.set_of(key));
  if (entry == nullptr) return {};
  return {entry->tokens.begin(), entry->tokens.begin() + entry->count};
}

void put_short(WordCache& cache, const std::string& word, const Ids& ids) {
  const auto key = WordCache::short_key(word, 0, word.size());
  cache.put(key, cache.set_of(key), ids);
}

}  // namespace

TEST_CASE("words of all short lengths are distinguished") {
  WordCache cache(1 << 12, 1 << 12);
  for (std::size_t length = 1; length <= WordCache::kShortWord; ++length) {
    put_short(cache, std::string(length, 'x'), Ids{static_cast<TokenId>(length)});
    put_short(cache, std::string(length - 1, 'x') + '\0', Ids{-1, static_cast<TokenId>(length)});
  }
  for (std::size_t length = 1; length <= WordCache::kShortWord; ++length) {
    CHECK(known_short(cache, std::string(length, 'x')) == Ids{static_cast<TokenId>(length)});
    CHECK(known_short(cache, std::string(length - 1, 'x') + '\0') ==
          Ids{-1, static_cast<TokenId>(length)});
  }
  CHECK(known_short(cache, "y").empty());
}

TEST_CASE("a key does not depend on the text around the word") {
  for (std::size_t length = 1; length <= WordCache::kShortWord; ++length) {
    const std::string word = std::string("abcdefghijklmno").substr(0, length);
    const auto alone = WordCache::short_key(word, 0, length);
    for (const std::size_t before : {0, 1, 6, 7, 8, 30})
      for (const std::size_t after : {0, 1, 7, 8, 30}) {
        INFO(length << " bytes, " << before << " before, " << after << " after");
        // Of exact size, so that a sanitizer sees any byte that is read beyond it.
        const std::string text = std::string(before, '<') + word + std::string(after, '>');
        const std::vector<char> exact(text.begin(), text.end());
        CHECK(WordCache::short_key({exact.data(), exact.size()}, before, length) == alone);
      }
  }
}

TEST_CASE("a full set drops the least recently used word") {
  WordCache cache(2, 1 << 12);
  std::map<std::size_t, std::vector<std::string>> words_of_set;
  for (int i = 0; words_of_set[0].size() < 3; ++i) {
    const std::string word = std::to_string(i);
    words_of_set[cache.set_of(WordCache::short_key(word, 0, word.size()))].push_back(word);
  }
  const auto& words = words_of_set[0];
  put_short(cache, words[0], {0});
  put_short(cache, words[1], {1});
  CHECK(known_short(cache, words[0]) == Ids{0});
  put_short(cache, words[2], {2});
  CHECK(known_short(cache, words[1]).empty());
  CHECK(known_short(cache, words[0]) == Ids{0});
  CHECK(known_short(cache, words[2]) == Ids{2});
}

TEST_CASE("words that differ in any one byte spread over the sets") {
  WordCache cache(1 << 10, 1 << 12);
  std::map<std::size_t, int> load;
  for (std::size_t place = 0; place < WordCache::kShortWord; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string word(WordCache::kShortWord, 'a');
      word[place] = static_cast<char>(byte);
      ++load[cache.set_of(WordCache::short_key(word, 0, word.size()))];
    }
  }
  int fullest = 0;
  for (const auto& [set, count] : load)
    fullest = std::max(fullest, count);
  CHECK(fullest <= 32);  // 4 on average; the same word is among them 15 times
}

TEST_CASE("long words are kept until the block is full, then all are dropped") {
  constexpr std::size_t kLimit = 4096;
  WordCache cache(2, kLimit);
  std::mt19937 random(9);
  std::size_t found = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string word = "a rather long word " + std::to_string(random() % 40);
    const std::uint64_t hash = WordCache::long_hash(word);
    const auto known = cache.find_long(word, hash);
    const Ids ids(word.size() % 7 + 1, static_cast<TokenId>(hash & 0xFFFF));
    if (known.empty()) {
      cache.put_long(word, hash, ids);
    } else {
      ++found;
    }
    const auto now = cache.find_long(word, hash);
    REQUIRE(Ids(now.begin(), now.end()) == ids);
  }
  CHECK(found > 1000);
  CHECK(found < 2000);
}

TEST_CASE("words over the limit are not kept") {
  WordCache cache(2, 1 << 20);
  const std::string word(WordCache::kLongestWord + 1, 'x');
  const std::uint64_t hash = WordCache::long_hash(word);
  cache.put_long(word, hash, Ids{1});
  CHECK(cache.find_long(word, hash).empty());
}
