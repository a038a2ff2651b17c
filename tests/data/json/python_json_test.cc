#include "data/json/python_json.h"

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

std::string dumped(std::string_view json) {
  JsonParser parser;
  std::string out;
  append_python_json(parser.parse_copy(json), out);
  return out;
}

}  // namespace

// Expected texts: json.dumps(json.loads(text), ensure_ascii=False) of Python 3.11.
TEST_CASE("JSON is written as Python writes it") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"a":1,"b":[1,2,{"c":null}]})", R"({"a": 1, "b": [1, 2, {"c": null}]})"},
      {R"({})", R"({})"},
      {R"([ ])", R"([])"},
      {R"([true,false])", R"([true, false])"},
      {R"({"b":1,"a":2,"b":3})", R"({"b": 3, "a": 2})"},
      {R"([1.0,-0.0,1e5,100000.0,0.1])", R"([1.0, -0.0, 100000.0, 100000.0, 0.1])"},
      {R"([1e15,1e16,123456789012345680,1.5e300])",
       R"([1000000000000000.0, 1e+16, 123456789012345680, 1.5e+300])"},
      {R"([0.0001,0.00001,1e-7,1.25e-10,5e-324])", R"([0.0001, 1e-05, 1e-07, 1.25e-10, 5e-324])"},
      {R"([12.5,1234567.891,2.5e15])", R"([12.5, 1234567.891, 2500000000000000.0])"},
      {R"([-3,0,18446744073709551615,-9223372036854775808])",
       R"([-3, 0, 18446744073709551615, -9223372036854775808])"},
      {R"(["\u00e9\ud83d\ude00\u2028"])", "[\"\u00e9\U0001F600\u2028\"]"},
      {R"(["\"\\\/\b\f\n\r\t\u0001\u001f\u007f"])",
       "[\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"]"},
  };
  for (const auto& [json, expected] : cases)
    CHECK(dumped(json) == expected);
}

TEST_CASE("JSON is indented as Python indents it") {
  CHECK(indent_python_json(R"({"a": 1, "b": [1, {"c": "x, {y}: \"[\""}], "d": {}, "e": []})", 4) ==
        "{\n    \"a\": 1,\n    \"b\": [\n        1,\n        {\n            \"c\": \"x, {y}: "
        "\\\"[\\\"\"\n        }\n    ],\n    \"d\": {},\n    \"e\": []\n}");
  CHECK(indent_python_json("{}", 4) == "{}");
  CHECK(indent_python_json("[1, 2]", 2) == "[\n  1,\n  2\n]");
}
