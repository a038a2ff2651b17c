#include "batching/alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "property.h"

using namespace odb;

namespace {

using Values = std::vector<std::int64_t>;

Values maxima_of(const std::vector<Offer>& offers) {
  Values maxima = encode(offers.front());
  for (const Offer& offer : offers) {
    const Values own = encode(offer);
    std::transform(maxima.begin(), maxima.end(), own.begin(), maxima.begin(),
                   [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  return maxima;
}

BatchingOptions options(Align align, bool join, std::int64_t round_groups = 16) {
  BatchingOptions o;
  o.align = align;
  o.join = join;
  o.round_groups = round_groups;
  return resolve(o, Layout::flat);
}

Group group_of(const std::vector<std::int32_t>& lengths, ViewId first_view) {
  std::vector<Item> rows;
  rows.reserve(lengths.size());
  for (const std::int32_t length : lengths)
    rows.push_back({first_view++, length, 1});
  return make_group(rows);
}

std::vector<std::vector<std::int32_t>> lengths_of(const std::vector<Group>& groups) {
  std::vector<std::vector<std::int32_t>> result;
  for (const Group& group : groups) {
    result.emplace_back();
    for (const Item& item : group.rows)
      result.back().push_back(item.length);
  }
  return result;
}

}  // namespace

TEST_CASE("T is what all ranks can fill") {
  struct Case {
    const char* what;
    std::vector<Supply> ranks;  // {groups, samples}; {0, 0}: finished
    std::int64_t paper;
    std::int64_t balanced;
    std::int64_t non_join;
  };
  const Case cases[] = {
      {"one rank", {{5, 40}}, 5, 5, 5},
      {"at most R", {{50, 400}, {30, 400}}, 16, 16, 16},
      {"the maximum, or the minimum", {{12, 100}, {3, 100}}, 12, 3, 12},
      {"no more than the fewest samples", {{12, 100}, {1, 4}}, 4, 1, 4},
      {"finished ranks set no limit", {{7, 70}, {0, 0}, {5, 9}}, 7, 5, 0},
      {"all finished", {{0, 0}, {0, 0}}, 0, 0, 0},
      {"single samples", {{1, 1}, {9, 90}}, 1, 1, 1},
  };
  for (const Case& c : cases) {
    std::vector<Offer> offers;
    offers.reserve(c.ranks.size());
    for (const Supply& supply : c.ranks)
      offers.push_back({.supply = supply, .rank = static_cast<int>(offers.size())});
    const Agreement agreement = decode_agreement(maxima_of(offers));
    INFO(c.what);
    CHECK(slots_of_round(options(Align::paper, true), agreement) == c.paper);
    CHECK(slots_of_round(options(Align::balanced, true), agreement) == c.balanced);
    CHECK(slots_of_round(options(Align::paper, false), agreement) == c.non_join);
    CHECK(slots_of_round(options(Align::balanced, false), agreement) == c.non_join);
  }
}

TEST_CASE("failures and ranks at another position are found in the maxima") {
  const Offer well{.supply = {3, 30}, .rank = 0, .position = 77};
  Offer failed{.supply = {}, .rank = 5, .failure = 3, .position = 77};
  const Agreement agreement = decode_agreement(maxima_of({well, failed}));
  CHECK(agreement.failure == 3);
  CHECK(agreement.failed_rank == 5);
  CHECK(agreement.same_position);
  failed.position = 78;
  CHECK_FALSE(decode_agreement(maxima_of({well, failed})).same_position);
  CHECK(decode_agreement(maxima_of({well})).failure == 0);
  CHECK_THROWS_AS(encode({.supply = {0, 5}}), InternalError);
  CHECK_THROWS_AS(encode({.supply = {6, 5}}), InternalError);
  const Values short_vector = {1, 2, 3};
  CHECK_THROWS_AS(decode_agreement(short_vector), InternalError);
}

TEST_CASE("slot totals are sent as five numbers per slot") {
  Group group = group_of({5, 7}, 0);
  const std::vector<Group> groups = {group, group_of({9}, 2)};
  CHECK(encode_totals(groups, 2, 3) == Values{2, 12, 2, 1, 3, 1, 9, 1, 1, 0});
  CHECK(encode_totals({}, 2, 0) == Values(10, 0));
  const Values sums = {4, 24, 4, 2, 3, 1, 9, 1, 1, 0};
  CHECK(decode_totals(sums) == std::vector<SlotTotals>{{4, 24, 4, 2, 3}, {1, 9, 1, 1, 0}});
}

TEST_CASE("one group is chosen from each stratum, overdue ones first") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, RandomPurpose::tests);
    CHECK(choose_groups(4, 4, {}, rng) == Values{0, 1, 2, 3});
    const Values chosen = choose_groups(40, 4, {}, rng);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(chosen[k] >= static_cast<std::int64_t>(10 * k));
      CHECK(chosen[k] < static_cast<std::int64_t>(10 * k + 10));
    }
    // Index 25 replaces the choice of its own stratum or of a neighbor; the others stay.
    Rng first(seed, RandomPurpose::tests, 1);
    Rng second(seed, RandomPurpose::tests, 1);
    const Values without = choose_groups(40, 4, {}, first);
    const Values overdue = {25};
    const Values with = choose_groups(40, 4, overdue, second);
    CHECK(std::count(with.begin(), with.end(), 25) == 1);
    Values changed;
    std::set_difference(without.begin(), without.end(), with.begin(), with.end(),
                        std::back_inserter(changed));
    CHECK(changed.size() <= 1);
    // More overdue groups than requested: the most urgent ones.
    const Values many = {7, 3, 30, 4};
    CHECK(choose_groups(40, 2, many, rng) == Values{3, 7});
  }
}

TEST_CASE("every index is chosen equally often, for any numbers") {
  for (const auto& [count, target] : {std::pair{10, 4}, {7, 6}, {33, 16}, {5, 1}}) {
    Rng rng(static_cast<std::uint64_t>(count), RandomPurpose::tests);
    std::vector<double> counts(static_cast<std::size_t>(count));
    const int rounds = 20000;
    for (int i = 0; i < rounds; ++i)
      for (const std::int64_t place : choose_groups(count, target, {}, rng))
        ++counts[static_cast<std::size_t>(place)];
    const double expected = static_cast<double>(rounds) * target / count;
    for (int place = 0; place < count; ++place) {
      INFO(target << " of " << count << ", place " << place);
      CHECK(std::abs(counts[static_cast<std::size_t>(place)] / expected - 1) < 0.08);
    }
  }
}

TEST_CASE("choices are distinct, ascending and in range for all numbers") {
  check_property("choices", 300, [] {
    const auto count = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto target = *rc::gen::inRange<std::int64_t>(1, count + 1);
    Values overdue(static_cast<std::size_t>(count));
    std::iota(overdue.begin(), overdue.end(), 0);
    Rng rng(*rc::gen::arbitrary<std::uint64_t>(), RandomPurpose::tests);
    shuffle(std::span(overdue), rng);
    overdue.resize(static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(0, count + 1)));
    const Values chosen = choose_groups(count, target, overdue, rng);
    RC_ASSERT(static_cast<std::int64_t>(chosen.size()) == target);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      RC_ASSERT(chosen[i] >= 0);
      RC_ASSERT(chosen[i] < count);
      if (i > 0) RC_ASSERT(chosen[i] > chosen[i - 1]);
    }
    const std::size_t kept = std::min(overdue.size(), chosen.size());
    for (std::size_t i = 0; i < kept; ++i)
      RC_ASSERT(std::binary_search(chosen.begin(), chosen.end(), overdue[i]));
  });
}

TEST_CASE("the limit for sending a view back is four times the rounds that the groups take") {
  CHECK(max_sent_back(1, 16) == 4);
  CHECK(max_sent_back(16, 16) == 4);
  CHECK(max_sent_back(17, 16) == 8);
  CHECK(max_sent_back(106, 16) == 28);
}

TEST_CASE("a group is split where the cost of its costlier part is minimal") {
  struct Case {
    const char* what;
    std::vector<std::vector<std::int32_t>> groups;  // views count through them
    std::int64_t target;
    double quadratic_cost;
    std::vector<std::vector<std::int32_t>> result;
  };
  const Case cases[] = {
      {"enough already", {{5, 5}, {3}}, 2, 0, {{5, 5}, {3}}},
      {"the costliest of two or more", {{50}, {9, 9, 2}}, 3, 0, {{50}, {9}, {9, 2}}},
      {"equal halves", {{4, 4, 4, 4}}, 2, 0, {{4, 4}, {4, 4}}},
      {"of equal cost the lowest view", {{5, 5}, {5, 5}}, 3, 0, {{5}, {5, 5}, {5}}},
      {"again and again", {{4, 3, 2, 1}}, 4, 0, {{4}, {3}, {2}, {1}}},
      {"squares count", {{8, 4, 4, 4}}, 2, 10, {{8}, {4, 4, 4}}},
  };
  for (const Case& c : cases) {
    std::vector<Group> groups;
    ViewId view = 0;
    for (const auto& lengths : c.groups) {
      groups.push_back(group_of(lengths, view));
      view += static_cast<ViewId>(lengths.size());
    }
    split_groups(groups, c.target, {.layout = Layout::flat, .quadratic_cost = c.quadratic_cost});
    INFO(c.what);
    CHECK(lengths_of(groups) == c.result);
  }
  std::vector<Group> single = {group_of({5}, 0)};
  CHECK_THROWS_AS(split_groups(single, 2, {}), InternalError);
}

TEST_CASE("a split of padded rows uses their padded length") {
  // Prefix and suffix cost rows x longest: 1 x 10 against 3 x 2; 2 x 10 against 2 x 2.
  std::vector<Group> groups = {group_of({10, 2, 2, 2}, 0)};
  split_groups(groups, 2, {.layout = Layout::padded});
  CHECK(lengths_of(groups) == std::vector<std::vector<std::int32_t>>{{10}, {2, 2, 2}});
}

TEST_CASE("groups are put in order of cost, ties by lowest view") {
  std::vector<Group> groups = {group_of({9}, 7), group_of({4, 5}, 3), group_of({2}, 0)};
  sort_by_cost(groups, {});
  CHECK(lengths_of(groups) == std::vector<std::vector<std::int32_t>>{{2}, {4, 5}, {9}});
}

TEST_CASE("the slot order is a permutation and differs from round to round") {
  Rng first(1, RandomPurpose::round_choice, 0, 1);
  Rng second(1, RandomPurpose::round_choice, 0, 2);
  Values a = slot_order(16, first);
  const Values b = slot_order(16, second);
  CHECK(a != b);
  std::sort(a.begin(), a.end());
  Values counted(16);
  std::iota(counted.begin(), counted.end(), 0);
  CHECK(a == counted);
}
