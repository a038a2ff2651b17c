#include "odd_rows.h"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/rng.h"

namespace odb {
namespace {

// Both are a single word, for which the tokenizer keeps a node a letter.

std::string large_text() {
  constexpr std::size_t kLetters = 2'000'000;
  Rng rng(1, RandomPurpose::tests);  // few pairs of letters merge: quick
  std::string word(kLetters, ' ');
  for (char& letter : word)
    letter = static_cast<char>('a' + rng.below(26));
  return word;
}

std::string slow_text() {
  constexpr std::size_t kLetters = 1'200'000;
  std::string word;
  while (word.size() < kLetters)  // nearly all letters merge, some of them more than once
    word += "numbersistheartowerearionantumberveneationsurnstreell";
  return word;
}

}  // namespace

std::string write_rows(const TrainerRun& run, int rows, const OddRows& odd) {
  std::string data;
  for (int row = 0; row < rows; ++row) {
    std::string text = "The ferry leaves";
    for (int pier = 0; pier <= row % 7; ++pier)
      text += " pier " + std::to_string(row * 7 + pier);
    if (odd.large.contains(row)) text = large_text();
    if (odd.slow.contains(row)) text = slow_text();
    data += nlohmann::json{{"text", text}}.dump() + "\n";
  }
  return run.write("rows.jsonl", data);
}

}  // namespace odb
