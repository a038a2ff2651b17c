// The two algorithms that merge a word, against the rule itself.
#include "tokenizer/bpe.h"

#include <map>
#include <optional>
#include <random>

#include "catch.h"

using namespace odb;
using Ids = std::vector<TokenId>;

namespace {

// Random merges over the bytes 'a' .. 'd' and what they make; byte tokens are the bytes' values.
struct Model {
  std::vector<Merge> merges;
  MergeTable table;

  static std::array<TokenId, 256> byte_tokens() {
    std::array<TokenId, 256> tokens{};
    for (int byte = 0; byte < 256; ++byte)
      tokens[byte] = byte;
    return tokens;
  }
  static std::vector<Merge> random_merges(std::mt19937& random, int count) {
    std::vector<TokenId> known{'a', 'b', 'c', 'd'};
    std::vector<Merge> merges;
    std::map<std::pair<TokenId, TokenId>, bool> taken;
    for (TokenId next = 256; static_cast<int>(merges.size()) < count; ++next) {
      const TokenId left = known[random() % known.size()];
      const TokenId right = known[random() % known.size()];
      if (!taken.emplace(std::pair{left, right}, true).second) continue;
      merges.push_back({left, right, next});
      known.push_back(next);
    }
    return merges;
  }
  Model(std::mt19937& random, int count)
      : merges(random_merges(random, count)), table(merges, byte_tokens()) {}
};

// The rule, literally: apply the first merge of the list that applies, leftmost, again and again.
Ids merge_by_the_rule(const std::vector<Merge>& merges, const std::string& word) {
  Ids ids(word.begin(), word.end());
  while (true) {
    bool merged = false;
    for (const Merge& merge : merges) {
      for (std::size_t i = 0; i + 1 < ids.size() && !merged; ++i) {
        if (ids[i] != merge.left || ids[i + 1] != merge.right) continue;
        ids[i] = merge.merged;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        merged = true;
      }
      if (merged) break;
    }
    if (!merged) return ids;
  }
}

}  // namespace

TEST_CASE("short and long words are merged as the rule says") {
  constexpr std::uint32_t kSeed = 3;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 60; ++round) {
    const Model model(random, 1 + static_cast<int>(random() % 60));
    BytePairEncoder encoder(model.table);
    for (int i = 0; i < 20; ++i) {
      // Around the border between the two algorithms, and far below it.
      const std::size_t length = i % 2 == 0 ? random() % 20 : 80 + random() % 40;
      std::string word;
      while (word.size() < length)
        word += static_cast<char>('a' + random() % 4);
      Ids ids{-7};
      encoder.encode(word, ids);
      Ids expected = merge_by_the_rule(model.merges, word);
      expected.insert(expected.begin(), -7);
      INFO("seed " << kSeed << ", round " << round << ", word " << word);
      CHECK(ids == expected);
    }
  }
}

TEST_CASE("equal ranks are merged from the left") {
  const MergeTable table({{'a', 'a', 256}}, Model::byte_tokens());
  BytePairEncoder encoder(table);
  Ids short_ids;
  encoder.encode("aaaaa", short_ids);
  CHECK(short_ids == Ids{256, 256, 'a'});
  Ids long_ids;
  encoder.encode(std::string(201, 'a'), long_ids);
  CHECK(long_ids.size() == 101);
  CHECK(long_ids.back() == 'a');
}

TEST_CASE("the merge table finds each merge and nothing else") {
  std::mt19937 random(5);
  const Model model(random, 500);
  CHECK(model.table.size() == 500);
  std::map<std::pair<TokenId, TokenId>, MergeRank> ranks;
  for (MergeRank rank = 0; rank < model.merges.size(); ++rank) {
    ranks[{model.merges[rank].left, model.merges[rank].right}] = rank;
  }
  int wrong = 0;
  for (TokenId left = 0; left < 760; ++left) {
    for (TokenId right = 0; right < 760; ++right) {
      const auto found = ranks.find({left, right});
      wrong += model.table.rank(left, right) != (found == ranks.end() ? kNoMerge : found->second);
    }
  }
  CHECK(wrong == 0);
  CHECK(model.table.rank_of_bytes('a', 'b') == model.table.rank('a', 'b'));
}
