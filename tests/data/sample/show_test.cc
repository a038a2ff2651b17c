#include "base/ignore_index.h"
#include "base/progress_bar.h"
#include "catch.h"
#include "data/sample/show_sample.h"
#include "sample/test_tokenizer.h"

using namespace odb;

TEST_CASE("A sample as text, supervised tokens marked") {
  const Tokenizer& tokenizer = test_tokenizer().tokenizer;
  Encoder encoder(tokenizer);
  Sample sample;
  for (const std::string text : {"ask ", "tell", " ask"}) {
    const std::vector<TokenId> ids = encoder.encode(text);
    sample.tokens.insert(sample.tokens.end(), ids.begin(), ids.end());
    for (const TokenId id : ids)
      sample.labels.push_back(text == "tell" ? id : kIgnoreIndex);
  }
  CHECK(show_sample(sample, tokenizer, Highlight::marks) == "ask \u27E6tell\u27E7 ask");
  CHECK(show_sample(sample, tokenizer, Highlight::color) == "ask \x1b[32mtell\x1b[0m ask");
  CHECK(show_sample({}, tokenizer, Highlight::marks).empty());
}

TEST_CASE("The progress line") {
  CHECK(progress_line("indexing", 0, 200, 4) == "indexing [....]   0 %");
  CHECK(progress_line("indexing", 101, 200, 4) == "indexing [##..]  50 %");
  CHECK(progress_line("indexing", 200, 200, 4) == "indexing [####] 100 %");
  CHECK(progress_line("indexing", 0, 0, 4) == "indexing [####] 100 %");
}
