// DGAP, the alignment of groups over ranks, as pure functions: what ranks send to each other, how
// many slots a round has, which groups are emitted, in what order, and how groups are split.
//
// Source: ODB (arXiv 2606.19989), whose max-based two-sided rule is Align::paper. Align::balanced
// adds one cap, the smallest number of groups of an unfinished rank, so that nothing is ever split.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "batching/group.h"
#include "batching/group_source.h"
#include "batching/options.h"
#include "batching/slot.h"

namespace odb {

// ---- The first all-reduce (MAX) of a round: eight numbers.

inline constexpr std::int64_t kOfferNumbers = 8;

// What one rank sends. `position` is a number that must be equal on all ranks (a hash of round,
// slot number, options): a rank that differs is detected.
struct Offer {
  Supply supply;
  int rank = 0;
  std::int64_t failure = 0;   // 0, or an exit code: all ranks end the run
  std::int64_t position = 0;  // >= 0
};

// What all ranks know after it.
struct Agreement {
  std::int64_t max_groups = 0;   // maximum over all ranks
  std::int64_t min_groups = 0;   // minimum over unfinished ranks
  std::int64_t min_samples = 0;  // minimum over unfinished ranks
  bool any_unfinished = false;
  bool any_finished = false;
  std::int64_t failure = 0;  // the highest code, and the highest rank that has it
  int failed_rank = 0;
  bool same_position = true;
};

std::vector<std::int64_t> encode(const Offer& offer);
Agreement decode_agreement(std::span<const std::int64_t> maxima);

// T, the number of slots of the round; 0: the epoch ends (no rank is unfinished, or non-join and
// one is finished). Otherwise 1 <= T <= round_groups, and T <= min_samples.
std::int64_t slots_of_round(const BatchingOptions& resolved, const Agreement& agreement);

// ---- The second all-reduce (SUM): five numbers per slot.

inline constexpr std::int64_t kSlotNumbers = 5;

// `groups` has one group per slot; empty: this rank is idle in all of them. `left_out`: number of
// rows that this rank's refill left out.
std::vector<std::int64_t> encode_totals(std::span<const Group> groups, std::int64_t slots,
                                        std::int64_t left_out);
std::vector<SlotTotals> decode_totals(std::span<const std::int64_t> sums);

// ---- Which groups are emitted, and in what order.

// Chooses `target` of `count` groups that are sorted by cost; returns their indexes, ascending. One
// index is drawn from each of `target` equal strata. `shared` is the same on all ranks, so the k-th
// choices of all ranks have similar cost, and no length is preferred. The indexes in `overdue`,
// most urgent first, are chosen before any other; each replaces the chosen index nearest to it.
std::vector<std::int64_t> choose_groups(std::int64_t count, std::int64_t target,
                                        std::span<const std::int64_t> overdue, Rng& shared);

// A view sent back more often than this is overdue: 4 * ceil(groups / round_groups).
std::int64_t max_sent_back(std::int64_t groups, std::int64_t round_groups);

// A random order of 0..slots-1.
std::vector<std::int64_t> slot_order(std::int64_t slots, Rng& rng);

// Sorts by cost, cheapest first, ties by lowest view: the order before slot_order() is applied.
void sort_by_cost(std::vector<Group>& groups, const CostModel& model);

// Splits groups until there are `target`. Each time it splits the costliest group of two or more
// samples (ties by lowest view) at the place that minimizes the cost of the costlier part. Requires
// at least `target` samples.
void split_groups(std::vector<Group>& groups, std::int64_t target, const CostModel& model);

}  // namespace odb
