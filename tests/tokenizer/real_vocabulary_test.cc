// The full Qwen vocabularies and a corpus of real chat, against ids that the reference gave when
// scripts/fetch_test_data.sh ran.
#include <fstream>

#include "base/error.h"
#include "catch.h"
#include "data/json/json_texts.h"
#include "test_tokenizers.h"
#include "tokenizer/encoder.h"

using namespace odb;

namespace {

std::ifstream open_test_data(const std::string& name) {
  const std::string path = std::string(ODB_TEST_DATA) + "/" + name;
  std::ifstream file(path);
  if (!file) throw FileError("{} is missing: run scripts/fetch_test_data.sh", path);
  return file;
}

// Lines {"text", ids} of one file each; reports the first texts that differ.
void check_corpus(const std::string& folder, const std::string& texts_name,
                  std::size_t texts_wanted) {
  const Tokenizer tokenizer = Tokenizer::load(std::string(ODB_TEST_DATA) + "/" + folder);
  Encoder encoder(tokenizer);
  JsonLineReader reader;
  std::ifstream texts = open_test_data(texts_name);
  std::ifstream ids = open_test_data(folder + "/" + texts_name + ".ids");
  std::size_t count = 0;
  std::size_t different = 0;
  std::string line;
  for (std::string text_line; std::getline(texts, text_line); ++count) {
    REQUIRE(std::getline(ids, line));
    const std::string text = reader.read_text(text_line, texts_name);
    const auto expected = reader.read_ids(line, texts_name);
    const auto found = encoder.encode(text);
    if (found == expected) continue;
    if (++different > 10) continue;
    INFO("text " << count << ": " << text_line);
    CHECK(found == expected);
  }
  CHECK(different == 0);
  CHECK(count == texts_wanted);
  CHECK_FALSE(std::getline(ids, line));
}

}  // namespace

TEST_CASE("Qwen's full vocabulary: every message of the corpus has the reference's ids") {
  check_corpus("qwen2", "corpus.texts.jsonl", 135587);
}

TEST_CASE("Qwen's full vocabulary: every golden text has the reference's ids") {
  check_corpus("qwen2", "golden.texts.jsonl", 202);
}

TEST_CASE("Qwen3.5's full vocabulary: every golden text has the reference's ids") {
  check_corpus("qwen3.5", "golden.texts.jsonl", 202);
}

TEST_CASE("Qwen's full vocabulary: the ids of the corpus decode to its texts") {
  const Tokenizer tokenizer = Tokenizer::load(std::string(ODB_TEST_DATA) + "/qwen2");
  REQUIRE(tokenizer.size() == 151669);
  Encoder encoder(tokenizer);
  JsonLineReader reader;
  std::ifstream texts = open_test_data("corpus.texts.jsonl");
  std::size_t different = 0;
  for (std::string line; std::getline(texts, line);) {
    const std::string text = reader.read_text(line, "corpus.texts.jsonl");
    std::string decoded = tokenizer.decode(encoder.encode(text));
    // Normalization is not undone: compare with the text's own form.
    if (decoded != text) different += encoder.encode(decoded) != encoder.encode(text);
  }
  CHECK(different == 0);
}
