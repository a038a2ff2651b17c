#include "plan/lengths.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

double mean(const std::vector<std::int32_t>& lengths) {
  return static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) /
         static_cast<double>(lengths.size());
}

}  // namespace

TEST_CASE("the distributions have their golden means") {
  // Means of 100,000 samples with seed 0. Where little is clipped, also within five standard errors
  // of the formula's mean, median x e^(sigma^2 / 2).
  struct Case {
    const char* name;
    double golden;
    double formula;  // 0: too much is clipped to compare
    double tolerance;
  };
  const Case cases[] = {{"chat", 857.16077, 0, 0},
                        {"sharegpt-like", 1328.48246, 0, 0},
                        {"caption", 620.18218, 560 * 1.106566, 5},
                        {"ultrachat-like", 1304.32547, 1150 * 1.133148, 11},
                        {"mix", 191.43171, 0.9 * 160 * 1.031743 + 0.1 * 400 * 1.083287, 1.4}};
  REQUIRE(length_distributions().size() == std::size(cases));
  for (const Case& c : cases) {
    INFO(c.name);
    const std::vector<std::int32_t> lengths = named_lengths(c.name, 100000, 0);
    CHECK(mean(lengths) == Approx(c.golden).epsilon(1e-5));
    if (c.formula > 0) CHECK(mean(lengths) == Approx(c.formula).margin(c.tolerance));
    CHECK(*std::min_element(lengths.begin(), lengths.end()) >= 16);
    CHECK(*std::max_element(lengths.begin(), lengths.end()) <= 8192);
  }
}

TEST_CASE("chat is clipped at both ends") {
  const std::vector<std::int32_t> lengths = named_lengths("chat", 100000, 0);
  // z below -2.596 and above 2.392: 0.47 % and 0.84 %.
  const auto share = [&](std::int32_t length) {
    return static_cast<double>(std::count(lengths.begin(), lengths.end(), length)) / 100000;
  };
  CHECK(share(16) == Approx(0.0047).margin(0.0012));
  CHECK(share(8192) == Approx(0.0084).margin(0.0015));
}

TEST_CASE("a sample depends on name, seed and its number alone") {
  for (const std::string& name : length_distributions()) {
    INFO(name);
    const auto few = named_lengths(name, 100, 4);
    const auto many = named_lengths(name, 1000, 4);
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
    CHECK(named_lengths(name, 100, 5) != few);
    CHECK(is_length_distribution(name));
  }
  CHECK_FALSE(is_length_distribution("chats"));
  CHECK_THROWS_AS(named_lengths("chats", 10, 0), UsageError);
  CHECK_THROWS_AS(named_lengths("chat", 0, 0), UsageError);
}

TEST_CASE("lengths are read from lines and from JSON") {
  using Lengths = std::vector<std::int32_t>;
  struct Case {
    const char* text;
    Lengths lengths;
  };
  const Case cases[] = {
      {"3\n14\n15\n", {3, 14, 15}},
      {"3\r\n\r\n 14 \n\n15", {3, 14, 15}},
      {"2147483647", {2147483647}},
      {"[3, 14, 15]", {3, 14, 15}},
      {"\xEF\xBB\xBF"
       "3\n14\n",
       {3, 14}},
      {"\xEF\xBB\xBF[3, 14]", {3, 14}},
      {" \n{\"rows\": 2, \"lengths\": [7, 9], \"tokenizer\": \"x\"}\n", {7, 9}},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(parse_lengths(c.text, "file") == c.lengths);
  }
}

TEST_CASE("a text that is not a list of lengths is refused with line or index") {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "file: contains no lengths; expected at least one"},
      {"\n \n", "file: contains no lengths; expected at least one"},
      {"[]", "file: contains no lengths; expected at least one"},
      {"3\n0\n",
       "file:2: found '0'; expected a length in tokens, a whole number from 1 to 2147483647"},
      {"-3",
       "file:1: found '-3'; expected a length in tokens, a whole number from 1 to 2147483647"},
      {"3\n\n4.5",
       "file:3: found '4.5'; expected a length in tokens, a whole number from 1 to "
       "2147483647"},
      {"2147483648",
       "file:1: found '2147483648'; expected a length in tokens, a whole number from 1 "
       "to 2147483647"},
      {"12 13",
       "file:1: found '12 13'; expected a length in tokens, a whole number from 1 to "
       "2147483647"},
      {"[1, 2.5]",
       "file: element 1 of the list is 2.5; expected a whole number from 1 to 2147483647"},
      {"[0]", "file: element 0 of the list is 0; expected a whole number from 1 to 2147483647"},
      {"{\"length\": [1]}",
       "file: the JSON object has no \"lengths\"; expected a list of lengths under that key"},
      {"{\"lengths\": 3}", "file: \"lengths\" is of type number; expected a list of whole numbers"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    try {
      parse_lengths(c.text, "file");
      FAIL("accepted");
    } catch (const DataError& error) {
      CHECK(std::string(error.what()) == c.message);
    }
  }
  CHECK_THROWS_AS(parse_lengths("[1, 2", "file"), DataError);
}
