#include "data/sample/labels.h"

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "sample/test_tokenizer.h"

using namespace odb;

namespace {

// Tokens of up to three bytes at any offset, so that tokens cross borders of pieces.
class ThreeBytes final : public TextEncoder {
 public:
  void encode(std::string_view text, std::vector<TokenId>& ids) override {
    for (std::size_t at = 0; at < text.size(); at += 3)
      ids.push_back(100 + static_cast<TokenId>(at / 3));
  }
  void encode_between(std::string_view text, std::vector<std::uint32_t>&, std::vector<TokenId>& ids,
                      std::vector<std::uint32_t>& ends) override {
    encode(text, ids);
    for (std::size_t at = 0; at < text.size(); at += 3)
      ends.push_back(static_cast<std::uint32_t>(std::min(at + 3, text.size())));
  }
};

// "." ignored, "x" supervised, one letter a token.
std::string mask(const Rendering& rendering, TrainOn train_on) {
  ThreeBytes encoder;
  Sample sample;
  Labeller(encoder, train_on).label(rendering, 0, sample);
  std::string out;
  std::int64_t supervised = 0;
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    const bool is_supervised = sample.labels[i] != kIgnoreIndex;
    if (is_supervised) CHECK(sample.labels[i] == sample.tokens[i]);
    supervised += is_supervised ? 1 : 0;
    out += is_supervised ? 'x' : '.';
  }
  CHECK(sample.supervised == supervised);
  return out;
}

// One letter a byte: 'a', 'b', 'c' text outside answers; 'A' to 'D' of an answer; '|' control token
// (of the answer if the letter before it is one).
Rendering rendering_of(std::string_view plan) {
  Rendering rendering;
  bool open = false;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const bool upper = plan[i] >= 'A' && plan[i] <= 'Z';
    if (upper && !open) rendering.open_answer();
    if (open && !upper && plan[i] != '|') rendering.close_answer();
    open = upper || (open && plan[i] == '|');
    if (plan[i] == '|')
      rendering.add_control(7);
    else
      rendering.add_text(plan.substr(i, 1));
    if (plan[i] == '|' && open) {
      rendering.close_answer();
      open = false;
    }
  }
  return rendering;
}

}  // namespace

TEST_CASE("A token is supervised if at least one of its bytes is") {
  struct Case {
    std::string plan;
    std::string mask;
  };
  const std::vector<Case> cases = {
      {"|aaaAAA|", "..xx"},      // the border is between two tokens
      {"|aaAAAA|", ".xxx"},      // the first token holds one answer byte
      {"|aaaaAAAAA|", "..xxx"},  // in the middle of a token
      {"|AAAaaa", ".x."},        // the other border
      {"|AAAAaa", ".xx"},
      {"|aAa|", ".x."},  // a whole answer inside one token
      {"|aAabBbcCc|", ".xxx."},
      {"|aaaaaaA|aaa", "...xx."},  // the control token belongs to the answer, what follows does not
      {"|aaa|", "..."},
      {"AAA|", ".x"},  // the first token of a sample is never supervised
      {"|", "."},
      {"", ""},
  };
  for (const Case& each : cases) {
    INFO(each.plan);
    CHECK(mask(rendering_of(each.plan), TrainOn::answers) == each.mask);
  }
}

TEST_CASE("Only the last answer, or everything, is supervised") {
  const Rendering rendering = rendering_of("|aaaAAA|bbbBBB|ccc");
  CHECK(mask(rendering, TrainOn::answers) == "..xx.xx.");
  CHECK(mask(rendering, TrainOn::last_answer) == ".....xx.");
  CHECK(mask(rendering, TrainOn::all) == ".xxxxxxx");
  CHECK(mask(rendering_of("|aaaAAA"), TrainOn::last_answer) == "..x");
  CHECK(mask(rendering_of("|aaa"), TrainOn::last_answer) == "..");
}

TEST_CASE("The last answer counts also when it is context only") {
  Rendering rendering;
  rendering.add_control(1);
  rendering.open_answer();
  rendering.add_text("abc");
  rendering.open_answer(false);
  rendering.add_text("def");
  CHECK(mask(rendering, TrainOn::last_answer) == "...");
  CHECK(mask(rendering, TrainOn::answers) == ".x.");
}

TEST_CASE("Encoding stops once there are enough tokens") {
  ThreeBytes encoder;
  Sample sample;
  Labeller(encoder, TrainOn::answers).label(rendering_of("|aaa|aaa|AAA|"), 3, sample);
  CHECK(sample.tokens.size() == 3);
  CHECK(sample.supervised == 0);
}

TEST_CASE("Positions of tokens, also where normalization changes the text") {
  TestTokenizer& test = test_tokenizer();
  struct Case {
    std::string text;
    std::uint32_t border;
    std::uint32_t moved_border;
    std::uint32_t size;  // in form C
  };
  const std::vector<Case> cases = {
      {"plain text here", 5, 5, 15},
      {"cafe\u0301 and more", 6, 5, 14},
      {"cafe\u0301 and more", 4, 4, 14},  // between letter and accent: before the joined one
      {"e\u0301e\u0301\u0323 x e\u0301", 8, 7, 12},
      {"<think>\n\u2028</think>", 8, 8, 19},
      {"<think>\u0338", 7, 7, 9},  // added tokens are found before normalization
      {"", 0, 0, 0}};
  for (const Case& each : cases) {
    INFO(each.text);
    std::vector<TokenId> ids;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> borders = {each.border};
    test.encoder.encode_between(each.text, borders, ids, ends);
    REQUIRE(ends.size() == ids.size());
    CHECK(std::is_sorted(ends.begin(), ends.end()));
    CHECK(borders.front() == each.moved_border);
    if (!ids.empty()) CHECK(ends.back() == each.size);
  }
}
