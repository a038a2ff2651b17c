#include "data/json/json_record.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

// The string under the key "t", or the error.
std::string parsed(const std::string& json) {
  JsonParser parser;
  try {
    const JsonValue root = parser.parse_copy(json);
    std::string_view text;
    return root["t"].get(text) == simdjson::SUCCESS ? std::string(text)
                                                    : std::string(kind_of(root));
  } catch (const DataError& error) {
    return error.what();
  }
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

}  // namespace

TEST_CASE("Halves of surrogate pairs become U+FFFD, whole pairs stay") {
  CHECK(parsed(R"({"t": "pair \ud83d\ude00 ok"})") == "pair \U0001F600 ok");
  CHECK(parsed(R"({"t": "high \ud83d end"})") == "high \uFFFD end");
  CHECK(parsed(R"({"t": "low \uDE00 end"})") == "low \uFFFD end");
  CHECK(parsed(R"({"t": "\ude00\ud83d"})") == "\uFFFD\uFFFD");
  CHECK(parsed(R"({"t": "\ud83d\ud83d\ude00"})") == "\uFFFD\U0001F600");
  CHECK(parsed(R"({"t": "\ud83d\u0041"})") ==
        "\uFFFD"
        "A");
  CHECK(parsed(R"({"t": "\\ud83d is text, \ud83d is not"})") == "\\ud83d is text, \uFFFD is not");
  CHECK(parsed(R"({"t": "\ud83d)"
               "\"}") == "\uFFFD");
}

TEST_CASE("Errors are readable") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "found nothing; expected a JSON object"},
      {"  ", "found nothing; expected a JSON object"},
      {"{\"t\": \"a\xFF\"}", "found bytes that are not UTF-8"},
      {"{\"t\": \"a\tb\"}", "found a raw control character inside a string"},
      {"{\"t\": \"cut", "found a string without its closing quote; was the line cut?"},
      {"{\"t\": 1", "found text that is not a single JSON value"},
      {"{\"t\": \"x\"} {}", "found text that is not a single JSON value"},
      {"{\"t\": \"x\",}", "found text that is not a single JSON value"},
      {"{\"t\": \"\\x\"}", "found a string with a broken escape"},
      {"{\"t\": 01}", "found a number that is not a JSON number"},
      {"{\"t\": 123456789012345678901234567890}",
       "found a number that is not a JSON number or needs"},
      {"\xEF\xBB\xBF{}", "found a byte order mark; only a file may begin with one"},
      {nested(2000), "found values nested more than 1024 deep"},
  };
  for (const auto& [json, message] : cases) {
    INFO(json.substr(0, 60));
    CHECK_THAT(parsed(json), Catch::StartsWith(message));
  }
}

TEST_CASE("Kinds of JSON values have names") {
  CHECK(parsed("[]") == "an array");
  CHECK(parsed("{}") == "an object");
  CHECK(parsed("null") == "null");
  CHECK(parsed("42") == "a number");
  CHECK(parsed("\"x\"") == "a string");
  CHECK(parsed("true") == "true or false");
}

TEST_CASE("A parser works after errors") {
  JsonParser parser;
  CHECK_THROWS_AS(parser.parse_copy("{"), DataError);
  CHECK(kind_of(parser.parse_copy("{}")) == "an object");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// In a process of its own, whose address space must not grow any more.
TEST_CASE("A parser without memory blames no row: std::bad_alloc, not DataError") {
  std::string text = "[" + std::string(std::size_t{16} << 20, ' ') + "1]";
  text.resize(text.size() + simdjson::SIMDJSON_PADDING);
  const std::size_t size = text.size() - simdjson::SIMDJSON_PADDING;
  const pid_t child = ::fork();
  if (child == 0) {
    JsonParser parser;
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};  // less than it has already
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
    try {
      parser.parse(std::span(text).first(size));
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("A number that becomes zero is found outside of texts") {
  for (const std::string_view json :
       {R"([1e-400])", R"({"a": -0.1E-999, "b": 1})", R"({"a": "\"", "b": 0.0000001e-320})"})
    CHECK(has_underflow(json));
  for (const std::string_view json : {R"([0, 0.0, -0.0, 0e5, 1e-300])",
                                      R"({"a": "1e-400", "b": "\\", "c": "\"1e-400"})", R"([])"})
    CHECK_FALSE(has_underflow(json));
}
