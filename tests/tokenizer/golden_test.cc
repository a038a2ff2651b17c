// Ids against those of the reference, recorded in golden/golden.json by golden/make_golden.py.
#include "catch.h"
#include "test_tokenizers.h"
#include "tokenizer/encoder.h"

using namespace odb;
using nlohmann::json;

namespace {

// Entry `index` of a sparse list {"3": value}, or `otherwise`.
template <typename T>
T sparse(const json& list, std::size_t index, const T& otherwise) {
  const auto found = list.find(std::to_string(index));
  return found == list.end() ? otherwise : found->get<T>();
}

void check_family(const json& families, const std::string& name,
                  const std::vector<std::string>& texts, const json& golden) {
  const Tokenizer tokenizer = parse(family_file(families, name));
  Encoder plain(tokenizer);
  Encoder parsing(tokenizer, {.parse_special_in_text = true});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(name << ", text " << i << ": " << json(texts[i]).dump());
    const auto ids = golden["ids"][i].get<std::vector<TokenId>>();
    const auto with_control = sparse(golden["ids_with_control"], i, ids);
    CHECK(plain.encode(texts[i]) == ids);
    CHECK(parsing.encode(texts[i]) == with_control);
    CHECK(parsing.encode(texts[i]) == with_control);  // now from the cache
    CHECK(tokenizer.decode(with_control, false) ==
          sparse(golden["decoded_unlike_text"], i, texts[i]));
  }
  const SequenceFrame& frame = tokenizer.frame();
  CHECK(golden["framed_length"] ==
        parsing.encode(texts[0]).size() + frame.prefix.size() + frame.suffix.size());
}

}  // namespace

TEST_CASE("every family gives the reference's ids and texts") {
  const json families = read_json(test_file("tokenizer/golden/families.json"));
  const json golden = read_json(test_file("tokenizer/golden/golden.json"));
  const auto texts = golden["texts"].get<std::vector<std::string>>();
  REQUIRE(golden["families"].size() == 17);
  for (const auto& [name, recorded] : golden["families"].items()) {
    check_family(families, name, texts, recorded);
  }
}

TEST_CASE("a template in the file is read as the frame of a text") {
  const json families = read_json(test_file("tokenizer/golden/families.json"));
  const Tokenizer llama = parse(family_file(families, "llama3"));
  const TokenId begin = *llama.find("<|begin_of_text|>");
  CHECK(llama.frame().prefix == std::vector{begin});
  CHECK(llama.frame().suffix.empty());
  CHECK(parse(family_file(families, "qwen2")).frame().prefix.empty());
}
