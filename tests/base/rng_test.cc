// Known answers of the generator, then statistics under fixed seeds: bounds are those of a 5-sigma
// event or a chi-square quantile near 1 - 1e-6, and the numbers are the same on every run.
#include "base/rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

double chi_square(const std::vector<int>& counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0)) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (int count : counts)
    sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// About the 1 - 1e-6 quantile (Wilson and Hilferty).
double chi_square_limit(std::size_t cells) {
  const double freedom = static_cast<double>(cells - 1);
  const double root = 1 - 2 / (9 * freedom) + 4.75 * std::sqrt(2 / (9 * freedom));
  return freedom * root * root * root;
}

}  // namespace

TEST_CASE("philox4x32-10 gives the published answers") {
  struct Case {
    PhiloxBlock counter;
    PhiloxKey key;
    PhiloxBlock answer;
  };
  const Case cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Case& c : cases)
    CHECK(philox4x32(c.counter, c.key) == c.answer);
}

TEST_CASE("a stream is a function of all four of its names and of nothing else") {
  const auto first = [](std::uint64_t seed, RandomPurpose purpose, std::uint64_t epoch,
                        std::uint64_t item) { return Rng(seed, purpose, epoch, item).bits64(); };
  std::set<std::uint64_t> seen;
  const RandomPurpose purposes[] = {RandomPurpose::noise, RandomPurpose::dropout};
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32})
    for (RandomPurpose purpose : purposes)
      for (std::uint64_t epoch : {0ull, 1ull, 1ull << 32})
        for (std::uint64_t item : {0ull, 1ull, 1ull << 32}) {
          CHECK(seen.insert(first(seed, purpose, epoch, item)).second);
          CHECK(first(seed, purpose, epoch, item) == first(seed, purpose, epoch, item));
        }
  CHECK(seen.size() == 3 * 2 * 3 * 3);
}

TEST_CASE("copying a stream copies its position, also between the two normals of a pair") {
  Rng rng(7, RandomPurpose::tests);
  rng.normal();
  rng.bits32();
  Rng copy = rng;
  for (int i = 0; i < 9; ++i)
    CHECK(copy.normal() == rng.normal());
  CHECK(copy.bits64() == rng.bits64());
}

TEST_CASE("below() is uniform, also where a modulus would show") {
  CHECK_THROWS_AS(Rng(1, RandomPurpose::tests).below(0), InternalError);
  CHECK(Rng(1, RandomPurpose::tests).below(1) == 0);
  for (std::uint64_t bound : {2u, 3u, 10u, 257u}) {
    Rng rng(bound, RandomPurpose::tests);
    std::vector<int> counts(bound);
    for (int i = 0; i < 200000; ++i)
      ++counts[rng.below(bound)];
    INFO("bound " << bound);
    CHECK(chi_square(counts) < chi_square_limit(bound));
  }
  // 3 * 2^62: a plain modulus would give the lowest third twice as often as the rest.
  Rng rng(3, RandomPurpose::tests);
  const std::uint64_t bound = 3ull << 62;
  std::vector<int> thirds(3);
  for (int i = 0; i < 30000; ++i)
    ++thirds[rng.below(bound) >> 62];
  CHECK(chi_square(thirds) < chi_square_limit(3));
}

TEST_CASE("uniform() fills 0 to 1 evenly and neighbors are not correlated") {
  Rng rng(11, RandomPurpose::tests);
  std::vector<int> counts(100);
  const int n = 500000;
  double previous = 0.5;
  double products = 0;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++counts[static_cast<std::size_t>(u * 100)];
    products += (u - 0.5) * (previous - 0.5);
    previous = u;
  }
  CHECK(chi_square(counts) < chi_square_limit(100));
  CHECK(std::abs(products * 12 / n) < 5 / std::sqrt(n));
}

TEST_CASE("normal() has the moments and the tails of the standard normal") {
  Rng rng(13, RandomPurpose::tests);
  const int n = 400000;
  double sums[4] = {};
  int beyond_two = 0;
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    for (int power = 0; power < 4; ++power)
      sums[power] += std::pow(z, power + 1);
    beyond_two += std::abs(z) > 2;
  }
  // Standard errors of the moments: sqrt(1/n), sqrt(2/n), sqrt(15/n), sqrt(96/n).
  CHECK(std::abs(sums[0] / n) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(sums[1] / n - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(sums[2] / n) < 5 * std::sqrt(15.0 / n));
  CHECK(std::abs(sums[3] / n - 3) < 5 * std::sqrt(96.0 / n));
  CHECK(std::abs(beyond_two / double(n) - 0.0455) < 5 * std::sqrt(0.0455 * 0.9545 / n));
}

TEST_CASE("shuffle() gives every order equally often") {
  Rng rng(17, RandomPurpose::tests);
  std::vector<int> counts(24);
  for (int i = 0; i < 60000; ++i) {
    int order[4] = {0, 1, 2, 3};
    shuffle(std::span<int>(order), rng);
    int number = 0;
    for (int place = 0; place < 4; ++place) {
      int smaller = 0;
      for (int later = place + 1; later < 4; ++later)
        smaller += order[later] < order[place];
      number = number * (4 - place) + smaller;
    }
    ++counts[static_cast<std::size_t>(number)];
  }
  CHECK(chi_square(counts) < chi_square_limit(24));
  std::vector<int> none;
  shuffle(std::span<int>(none), rng);
  CHECK(none.empty());
}
