#include "base/permutation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "catch.h"

using namespace odb;

TEST_CASE("a permutation is a bijection whose inverse undoes it, at every size") {
  std::vector<std::int64_t> sizes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 1000};
  for (int bits = 4; bits <= 17; ++bits)
    for (int off = -1; off <= 1; ++off)
      sizes.push_back((1 << bits) + off);
  for (std::int64_t size : sizes) {
    const Permutation order(size, 42, 3);
    std::vector<bool> seen(static_cast<std::size_t>(size));
    std::int64_t faults = 0;
    for (std::int64_t position = 0; position < size; ++position) {
      const std::int64_t item = order(position);
      const bool fresh = item >= 0 && item < size && !seen[static_cast<std::size_t>(item)];
      if (fresh) seen[static_cast<std::size_t>(item)] = true;
      faults += !fresh || order.inverse(item) != position;
    }
    INFO("size " << size);
    CHECK(faults == 0);
  }
}

TEST_CASE("huge sizes need no memory and seek at once") {
  for (std::int64_t size : {std::int64_t{1'000'000'000'000}, std::int64_t{1} << 40,
                            (std::int64_t{1} << 40) + 1, std::int64_t{1} << 62}) {
    const Permutation order(size, 9, 0);
    Rng rng(9, RandomPurpose::tests);
    for (int i = 0; i < 1000; ++i) {
      const auto position = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size)));
      const std::int64_t item = order(position);
      REQUIRE((item >= 0 && item < size));
      REQUIRE(order.inverse(item) == position);
    }
    CHECK(order.inverse(order(0)) == 0);
    CHECK(order.inverse(order(size - 1)) == size - 1);
  }
}

TEST_CASE("a place outside the permutation breaks an invariant") {
  const Permutation order(10, 0, 0);
  CHECK_THROWS_AS(order(10), InternalError);
  CHECK_THROWS_AS(order(-1), InternalError);
  CHECK_THROWS_AS(order.inverse(10), InternalError);
  CHECK_THROWS_AS(Permutation(0, 0, 0)(0), InternalError);
  CHECK_THROWS_AS(Permutation(-1, 0, 0), InternalError);
}

TEST_CASE("seed and epoch both change the order") {
  const Permutation base(1000, 1, 0);
  for (const Permutation& other : {Permutation(1000, 2, 0), Permutation(1000, 1, 1)}) {
    int same = 0;
    for (int i = 0; i < 1000; ++i)
      same += base(i) == other(i);
    CHECK(same < 10);  // one is expected
  }
}

// Over many seeds every order of a small N must come up equally often.
TEST_CASE("small permutations are uniform over all orders") {
  for (std::int64_t size : {2, 3, 4, 5}) {
    std::map<std::vector<std::int64_t>, int> counts;
    const int seeds = 60000;
    for (int seed = 0; seed < seeds; ++seed) {
      const Permutation order(size, static_cast<std::uint64_t>(seed), 0);
      std::vector<std::int64_t> items;
      for (std::int64_t i = 0; i < size; ++i)
        items.push_back(order(i));
      ++counts[items];
    }
    const double cells = std::tgamma(static_cast<double>(size) + 1);
    const double expected = seeds / cells;
    double chi_square = (cells - static_cast<double>(counts.size())) * expected;
    for (const auto& [items, count] : counts)
      chi_square += (count - expected) * (count - expected) / expected;
    INFO("size " << size << ", chi-square " << chi_square << " over " << cells << " orders");
    const double freedom = cells - 1;
    CHECK(chi_square < freedom + 5 * std::sqrt(2 * freedom) + 10);
  }
}

TEST_CASE("places, items and neighbors are not correlated") {
  for (std::int64_t size : {1000, 4097, 100003}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Permutation order(size, seed, 0);
      const double middle = static_cast<double>(size - 1) / 2;
      const double variance = (static_cast<double>(size) * static_cast<double>(size) - 1) / 12;
      double with_place = 0;
      double with_next = 0;
      double previous = static_cast<double>(order(size - 1)) - middle;
      for (std::int64_t i = 0; i < size; ++i) {
        const double item = static_cast<double>(order(i)) - middle;
        with_place += item * (static_cast<double>(i) - middle);
        with_next += item * previous;
        previous = item;
      }
      const double limit = 5 / std::sqrt(static_cast<double>(size));
      INFO("size " << size << ", seed " << seed);
      CHECK(std::abs(with_place / variance / static_cast<double>(size)) < limit);
      CHECK(std::abs(with_next / variance / static_cast<double>(size)) < limit);
    }
  }
}

// Two places at a fixed distance must fall anywhere relative to each other.
TEST_CASE("pairs of places spread evenly over all pairs of regions") {
  constexpr int kRegions = 16;
  for (std::int64_t size : {4096, 100003, 10'000'000}) {
    for (std::int64_t distance : {1, 2, 8, 64, 1024}) {
      const Permutation order(size, 21, 4);
      std::vector<int> counts(kRegions * kRegions);
      const std::int64_t pairs = std::min<std::int64_t>(size - distance, 200000);
      for (std::int64_t i = 0; i < pairs; ++i) {
        const std::int64_t first = order(i) * kRegions / size;
        const std::int64_t second = order(i + distance) * kRegions / size;
        ++counts[static_cast<std::size_t>(first * kRegions + second)];
      }
      const double expected = static_cast<double>(pairs) / (kRegions * kRegions);
      double chi_square = 0;
      for (int count : counts)
        chi_square += (count - expected) * (count - expected) / expected;
      INFO("size " << size << ", distance " << distance << ", chi-square " << chi_square);
      CHECK(chi_square < 255 + 5 * std::sqrt(2 * 255.0));
    }
  }
}

// What a rank draws, every W-th position, must itself be an even sample of the data.
TEST_CASE("every stride of positions draws evenly from all of the data") {
  const std::int64_t size = 64 * 1000;
  const Permutation order(size, 5, 0);
  for (std::int64_t rank : {0, 1, 63}) {
    std::vector<int> tenths(10);
    for (std::int64_t position = rank; position < size; position += 64)
      ++tenths[static_cast<std::size_t>(order(position) * 10 / size)];
    double chi_square = 0;
    for (int count : tenths)
      chi_square += (count - 100.0) * (count - 100.0) / 100.0;
    CHECK(chi_square < 50);
  }
}
