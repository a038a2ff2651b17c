// DGAP, the alignment of groups over ranks, as pure functions: what ranks tell each other, how many
// slots a round has, which groups stay, in what order they leave, and how groups are split.
//
// Source: ODB (arXiv 2606.19989), whose max-based two-sided rule is Align::paper. Align::balanced
// adds one cap, the fewest groups of an unfinished rank, so that nothing is ever split.
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

// What one rank tells. `position` is any number that must be equal on all ranks (round, slot
// number, options): a rank that differs is found out.
struct Offer {
  Supply supply;
  int rank = 0;
  std::int64_t failure = 0;   // 0, or an exit code: all ranks end the run
  std::int64_t position = 0;  // >= 0
};

// What all know after it.
struct Agreement {
  std::int64_t most_groups = 0;     // of any rank
  std::int64_t fewest_groups = 0;   // of an unfinished rank
  std::int64_t fewest_samples = 0;  // of an unfinished rank
  bool any_unfinished = false;
  bool any_finished = false;
  std::int64_t failure = 0;  // the highest code, and the highest rank that has it
  int failed_rank = 0;
  bool same_position = true;
};

std::vector<std::int64_t> encode(const Offer& offer);
Agreement decode_agreement(std::span<const std::int64_t> maxima);

// T, the number of slots of the round; 0: the epoch ends (no rank is unfinished, or non-join and
// one is finished). Otherwise 1 <= T <= round_groups, and T <= fewest_samples.
std::int64_t slots_of_round(const BatchingOptions& resolved, const Agreement& agreement);

// ---- The second all-reduce (SUM): five numbers a slot.

inline constexpr std::int64_t kSlotNumbers = 5;

// `groups` has one group a slot; empty: this rank is idle in all of them. `left_out`: rows of this
// rank's refill.
std::vector<std::int64_t> encode_totals(std::span<const Group> groups, std::int64_t slots,
                                        std::int64_t left_out);
std::vector<SlotTotals> decode_totals(std::span<const std::int64_t> sums);

// ---- Which groups stay, and in what order.

// Chooses `wanted` of `count` groups that are sorted by cost; answers their places, ascending. One
// place is drawn from each of `wanted` equal strata; `shared` being the same on all ranks, the k-th
// choices of all ranks have like cost, and no length is preferred. The places in `overdue`, most
// urgent first, stay before any other, each instead of the chosen place nearest to it.
std::vector<std::int64_t> choose_groups(std::int64_t count, std::int64_t wanted,
                                        std::span<const std::int64_t> overdue, Rng& shared);

// A view sent back more often than this is overdue: 4 * ceil(groups / round_groups).
std::int64_t most_sent_back(std::int64_t groups, std::int64_t round_groups);

// A random order of 0..slots-1.
std::vector<std::int64_t> slot_order(std::int64_t slots, Rng& rng);

// Sorts by cost, cheapest first, ties by lowest view: the order before slot_order() is applied.
void sort_by_cost(std::vector<Group>& groups, const CostModel& model);

// Splits groups until there are `wanted`: again and again the costliest one of two or more samples
// (ties by lowest view), in two where its dearer part is cheapest. The samples must be enough.
void split_groups(std::vector<Group>& groups, std::int64_t wanted, const CostModel& model);

}  // namespace odb
