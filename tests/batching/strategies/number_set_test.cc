#include "batching/strategies/number_set.h"

#include <set>

#include "base/rng.h"
#include "catch.h"

using namespace odb;

TEST_CASE("the next member is found across words and levels") {
  NumberSet set(64 * 64 * 2);
  CHECK_FALSE(set.at_or_above(0).has_value());
  for (const std::size_t number :
       {std::size_t{3}, std::size_t{63}, std::size_t{64}, std::size_t{5000}, std::size_t{8191}})
    set.insert(number);
  struct Case {
    std::size_t from;
    std::size_t found;
  };
  const Case cases[] = {{0, 3},     {3, 3},       {4, 63},      {63, 63},    {64, 64},
                        {65, 5000}, {5000, 5000}, {5001, 8191}, {8191, 8191}};
  for (const Case& c : cases) {
    INFO("from " << c.from);
    CHECK(set.at_or_above(c.from) == c.found);
  }
  CHECK_FALSE(set.at_or_above(8192).has_value());
  CHECK_FALSE(set.at_or_above(1000000).has_value());
  set.erase(5000);
  CHECK(set.at_or_above(65) == 8191u);
  set.erase(64);
  CHECK(set.at_or_above(64) == 8191u);
}

TEST_CASE("it agrees with std::set on random inserts and erasures") {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{5000}}) {
    INFO("size " << size);
    NumberSet set(size);
    std::set<std::size_t> expected;
    Rng rng(size, RandomPurpose::tests);
    for (int i = 0; i < 3000; ++i) {
      const auto number = static_cast<std::size_t>(rng.below(size));
      if (rng.below(2) == 0) {
        set.insert(number);
        expected.insert(number);
      } else {
        set.erase(number);
        expected.erase(number);
      }
      const auto from = static_cast<std::size_t>(rng.below(size));
      const auto next = expected.lower_bound(from);
      const auto found = set.at_or_above(from);
      REQUIRE(found.has_value() == (next != expected.end()));
      if (found) REQUIRE(*found == *next);
    }
  }
}
