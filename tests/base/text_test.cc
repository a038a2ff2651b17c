#include "base/text.h"

#include <cstdint>
#include <string>

#include "catch.h"

using namespace odb;
using Views = std::vector<std::string_view>;

TEST_CASE("text is split by a separator, into words and into lines") {
  CHECK(split("a,,b", ',') == Views{"a", "", "b"});
  CHECK(split("", ',') == Views{""});
  CHECK(split("a,", ',') == Views{"a", ""});
  CHECK(split_words("  a\tbc \n d ") == Views{"a", "bc", "d"});
  CHECK(split_words(" \n").empty());
  CHECK(split_lines("a\n\nb\n") == Views{"a", "", "b"});
  CHECK(split_lines("a") == Views{"a"});
  CHECK(split_lines("").empty());
  CHECK(split_lines("\n").empty());
  CHECK(trim("\t a b \r\n") == "a b");
  CHECK(trim(" ").empty());
}

TEST_CASE("integers are read whole or not at all") {
  CHECK(parse_integer<int>("0") == 0);
  CHECK(parse_integer<int>("-12") == -12);
  CHECK(parse_integer<std::uint8_t>("255") == 255);
  CHECK(parse_integer<std::uint64_t>("18446744073709551615") == UINT64_MAX);
  for (const char* text : {"", " 1", "1 ", "1x", "x", "0x1", "1.0", "+1", "-"}) {
    INFO("'" << text << "'");
    CHECK_FALSE(parse_integer<int>(text));
  }
  CHECK_FALSE(parse_integer<std::uint8_t>("256"));
  CHECK_FALSE(parse_integer<unsigned>("-1"));
}
