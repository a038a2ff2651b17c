// The shortcut for records of token ids: what it reads, what it leaves to the JSON parser, and that
// both give the same result.
#include "data/conversation/token_record.h"

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "catch.h"
#include "data/conversation/record_parser.h"

namespace odb {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr TokenColumns kColumns{.ids = "input_ids", .labels = "labels"};

struct Read {
  TokenRecord form;
  Ids ids;
  Ids labels;
};

Read read(const std::string& text) {
  Read result{};
  result.form = read_token_record(text, kColumns, result.ids, result.labels);
  return result;
}

std::string list(Rng& rng, std::size_t count) {
  const auto blank = [&] { return rng.below(8) == 0 ? " " : ""; };
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ",";
    text += blank();
    text += rng.below(4) == 0 ? "-100" : std::to_string(rng.below(rng.below(2) == 0 ? 12 : 200000));
    text += blank();
  }
  return text + "]";
}

}  // namespace

TEST_CASE("token records: lists of whole numbers are read") {
  const Read plain = read(R"({"input_ids": [1, 20,300]})");
  CHECK(plain.form == TokenRecord::ids);
  CHECK(plain.ids == Ids{1, 20, 300});
  const Read both =
      read("{ \"labels\":[-100,0, 2147483647 ] ,\t\"input_ids\" : [ ],\"mask\":[1]\n}");
  CHECK(both.form == TokenRecord::ids_and_labels);
  CHECK(both.ids.empty());
  CHECK(both.labels == Ids{-100, 0, 2147483647});
}

TEST_CASE("token records: anything else is left to the JSON parser") {
  for (const char* text : {"",
                           "}",
                           "{",
                           "{}",
                           "[]",
                           R"({"input_ids"})",
                           R"({"input_ids": })",
                           R"({"input_ids": [1})",
                           R"({"input_ids": [1,]})",
                           R"({"input_ids": [,1]})",
                           R"({"input_ids": [1 2]})",
                           R"({"input_ids": [01]})",
                           R"({"input_ids": [-0]})",
                           R"({"input_ids": [-]})",
                           R"({"input_ids": [1.0]})",
                           R"({"input_ids": [1e2]})",
                           R"({"input_ids": [+1]})",
                           R"({"input_ids": [2147483648]})",
                           R"({"input_ids": [99999999999999999999]})",
                           R"({"input_ids": ["1"]})",
                           R"({"input_ids": [[1]]})",
                           R"({"input_ids": null})",
                           R"({"input_ids": [1]]})",
                           R"({"input_ids": [1],})",
                           R"({"input_ids": [1]}})",
                           R"({"input_ids": [1], "input_ids": [2]})",
                           R"({"input_ids": [1], "text": "x"})",
                           R"({"input\u005fids": [1]})",
                           "{\"input_ids\": [1], \"\xc3\xa4\": [1]}",
                           R"({"labels": [1]})",
                           R"({"input_ids": [1]} )",
                           R"({"input_ids: [1]})"}) {
    INFO(text);
    CHECK(read(text).form == TokenRecord::none);
  }
}

TEST_CASE("token records: the parser gives the same result with and without the shortcut") {
  Rng rng(3, RandomPurpose::tests);
  RecordParser parser(RecordParserOptions{});
  RecordBuffer buffer;
  const auto parse = [&](const std::string& text) -> const ParsedRecord& {
    const std::span<char> bytes = buffer.resize(text.size());
    std::copy(text.begin(), text.end(), bytes.begin());
    return parser.parse(buffer);
  };
  for (int i = 0; i < 500; ++i) {
    const std::size_t count = rng.below(40);
    std::string text = R"({"input_ids": )" + list(rng, count);
    if (rng.below(2) == 0) text += R"(, "labels": )" + list(rng, count);
    const ParsedRecord quick = parse(text + "}");
    // A text besides the lists: not read by the shortcut.
    const ParsedRecord& general = parse(text + R"(, "note": "x"})");
    INFO(text);
    REQUIRE(quick.kind == RecordKind::tokens);
    REQUIRE(quick.format == general.format);
    REQUIRE(quick.tokens == general.tokens);
    REQUIRE(quick.labels == general.labels);
  }
}

}  // namespace odb
