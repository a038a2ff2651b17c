#include "data/sample/sample_builder.h"

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "records/record_texts.h"
#include "sample/test_tokenizer.h"

using namespace odb;

namespace {

struct Made {
  LeftOutReason left_out = LeftOutReason::none;
  Sample sample;
};

Made make(const std::string& json, SampleOptions options = {}, SampleTokens tokens = {}) {
  TestTokenizer& test = test_tokenizer();
  const auto chat_template = test.chat_template("chatml");
  if (tokens.vocabulary_size == 0) tokens = test.sample_tokens();
  SampleBuilder builder(std::move(options), *chat_template, test.new_encoder(), tokens);
  RecordBuffer buffer;
  std::copy(json.begin(), json.end(), buffer.resize(json.size()).begin());
  Made made;
  made.left_out = builder.build(buffer, made.sample);
  return made;
}

const std::string kConversation =
    R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "Bye."}]})";

std::string supervised_text(const Sample& sample) {
  std::vector<TokenId> ids;
  for (const std::int32_t label : sample.labels)
    if (label != kIgnoreIndex) ids.push_back(label);
  return test_tokenizer().tokenizer.decode(ids);
}

}  // namespace

TEST_CASE("Which tokens of a conversation are supervised") {
  CHECK(supervised_text(make(kConversation).sample) == "Hello.<|im_end|>Bye.<|im_end|>");
  CHECK(supervised_text(make(kConversation, {.train_on = TrainOn::last_answer}).sample) ==
        "Bye.<|im_end|>");
  const Sample all = make(kConversation, {.train_on = TrainOn::all}).sample;
  CHECK(all.supervised == static_cast<std::int64_t>(all.tokens.size()) - 1);
}

TEST_CASE("Cutting keeps the head and sets truncated") {
  const Sample whole = make(kConversation).sample;
  const auto length = static_cast<std::int64_t>(whole.tokens.size());
  CHECK_FALSE(whole.truncated);
  CHECK_FALSE(make(kConversation, {.cutoff_length = length}).sample.truncated);
  for (std::int64_t cutoff = 1; cutoff < length; ++cutoff) {
    INFO(cutoff);
    const Made cut = make(kConversation, {.cutoff_length = cutoff});
    CHECK(cut.sample.truncated);
    const auto size = static_cast<std::ptrdiff_t>(cutoff);
    CHECK(cut.sample.tokens ==
          std::vector<TokenId>(whole.tokens.begin(), whole.tokens.begin() + size));
    CHECK(cut.sample.labels ==
          std::vector<std::int32_t>(whole.labels.begin(), whole.labels.begin() + size));
    const std::int64_t supervised = std::count_if(
        cut.sample.labels.begin(), cut.sample.labels.end(), [](auto label) { return label >= 0; });
    CHECK(cut.sample.supervised == supervised);
    CHECK(cut.left_out == (supervised == 0 ? LeftOutReason::cut_away : LeftOutReason::none));
  }
}

TEST_CASE("Rows that are drawn but not trained have a reason") {
  CHECK(make(R"({"messages": []})").left_out == LeftOutReason::empty);
  CHECK(make(R"({"text": ""})").left_out == LeftOutReason::empty);
  CHECK(make(R"({"input_ids": []})").left_out == LeftOutReason::empty);
  CHECK(make(R"({"messages": [{"role": "user", "content": "x"}]})").left_out ==
        LeftOutReason::no_supervised_token);
  CHECK(make(R"({"messages": [{"role": "user", "content": "long enough"}]})", {.cutoff_length = 3})
            .left_out == LeftOutReason::no_supervised_token);
  CHECK(make(R"({"messages": [{"role": "assistant", "content": "x", "weight": 0}]})").left_out ==
        LeftOutReason::no_supervised_token);
  CHECK(make(R"({"input_ids": [1, 2], "labels": [1, -100]})").left_out ==
        LeftOutReason::no_supervised_token);
  CHECK(make(R"({"input_ids": [1, 2, 3], "labels": [-100, -100, 3]})", {.cutoff_length = 2})
            .left_out == LeftOutReason::cut_away);
  CHECK(std::string(name(LeftOutReason::cut_away)) == "answers behind the cutoff length");
}

TEST_CASE("Records of texts and of ids") {
  const Sample text = make(R"({"text": "ab"})", {},
                           {.bos_tokens = {5, 4}, .eos_tokens = {7, 6}, .vocabulary_size = 9})
                          .sample;
  const std::size_t size = text.tokens.size();
  REQUIRE(size > 4);
  CHECK(text.tokens[0] == 5);
  CHECK(text.tokens[1] == 4);
  CHECK(text.tokens[size - 2] == 7);
  CHECK(text.tokens[size - 1] == 6);
  CHECK(text.supervised == static_cast<std::int64_t>(size) - 2);
  CHECK(
      supervised_text(make(R"({"prompt": "What is 1 + 1?", "completion": " It is 2."})").sample) ==
      " It is 2.<|endoftext|>");
  const Sample ids = make(R"({"input_ids": [4, 5, 6]})").sample;
  CHECK(ids.tokens == std::vector<TokenId>{4, 5, 6});
  CHECK(ids.labels == std::vector<std::int32_t>{kIgnoreIndex, 5, 6});
  CHECK(ids.supervised == 2);
  CHECK_THROWS_WITH(make(R"({"input_ids": [4, 99999]})"),
                    Catch::Contains("input_ids[1]: found 99999; expected a token id from 0 to"));
  CHECK_THROWS_AS(make(R"({"input_ids": [-100, 1]})"), DataError);
  CHECK_THROWS_AS(make(R"({"input_ids": [1, 2], "labels": [-1, 2]})"), DataError);
}

TEST_CASE("A bad row fails with file and line, or is left out with them") {
  DataFolder folder;
  folder.put("a.jsonl", "\n{\"text\": \"x\"}\n{\"text\": 1}\n");
  const RecordFile file = folder.open("a.jsonl");
  TestTokenizer& test = test_tokenizer();
  const auto chat_template = test.chat_template("chatml");
  Sample sample;
  SampleBuilder strict({}, *chat_template, test.new_encoder(), test.sample_tokens());
  CHECK(strict.build(file, 0, sample).left_out == LeftOutReason::none);
  CHECK_THROWS_WITH(strict.build(file, 1, sample),
                    Catch::Matchers::Equals(folder.path("a.jsonl") +
                                            ":3: text: found a number; expected a text "
                                            "(--on-bad-sample skip leaves such rows out)"));
  SampleBuilder lenient({.skip_bad = true}, *chat_template, test.new_encoder(),
                        test.sample_tokens());
  const BuiltSample made = lenient.build(file, 1, sample);
  CHECK(made.left_out == LeftOutReason::bad_record);
  CHECK(made.problem == folder.path("a.jsonl") + ":3: text: found a number; expected a text");
  CHECK(lenient.build(file, 0, sample).left_out == LeftOutReason::none);
  folder.put("a.jsonl", "{}\n");
  CHECK_THROWS_AS(lenient.build(file, 0, sample), DataError);
}

TEST_CASE("Names of --train-on values") {
  CHECK(name(TrainOn::answers) == "answers");
  CHECK(name(TrainOn::last_answer) == "last-answer");
  CHECK(name(TrainOn::all) == "all");
}
