#include "batching/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
constexpr auto kTotalsSize = static_cast<std::size_t>(kSlotNumbers);
constexpr int kRankBits = 32;

ViewId lowest_view(const Group& group) {
  ViewId lowest = group.rows.front().view;
  for (const Item& item : group.rows)
    lowest = std::min(lowest, item.view);
  return lowest;
}

// How many rows to keep in the first part so that the costlier part is as cheap as possible.
std::size_t best_cut(const Group& group, const CostModel& model) {
  std::vector<double> tail_cost(group.rows.size());
  GroupSums tail;
  for (std::size_t i = group.rows.size(); i-- > 0;) {
    tail.add(group.rows[i]);
    tail_cost[i] = model.cost(tail);
  }
  std::size_t best = 1;
  double best_cost = std::numeric_limits<double>::infinity();
  GroupSums head;
  for (std::size_t i = 1; i < group.rows.size(); ++i) {
    head.add(group.rows[i - 1]);
    const double dearer = std::max(model.cost(head), tail_cost[i]);
    if (dearer < best_cost) {
      best_cost = dearer;
      best = i;
    }
  }
  return best;
}

}  // namespace

std::vector<std::int64_t> encode(const Offer& offer) {
  const bool unfinished = offer.supply.unfinished();
  ODB_CHECK(offer.position >= 0 && offer.failure >= 0, "position {}, failure {}", offer.position,
            offer.failure);
  ODB_CHECK(
      !unfinished || (offer.supply.groups >= 1 && offer.supply.groups <= offer.supply.samples),
      "{} groups of {} samples", offer.supply.groups, offer.supply.samples);
  return {unfinished ? offer.supply.groups : 0,
          unfinished ? -offer.supply.groups : kNothing,
          unfinished ? -offer.supply.samples : kNothing,
          unfinished ? 1 : 0,
          unfinished ? 0 : 1,
          offer.failure == 0 ? 0 : offer.failure << kRankBits | offer.rank,
          offer.position,
          -offer.position};
}

Agreement decode_agreement(std::span<const std::int64_t> maxima) {
  ODB_CHECK_EQ(static_cast<std::int64_t>(maxima.size()), kOfferNumbers);
  Agreement agreement;
  agreement.any_unfinished = maxima[3] != 0;
  agreement.any_finished = maxima[4] != 0;
  if (agreement.any_unfinished) {
    agreement.max_groups = maxima[0];
    agreement.min_groups = -maxima[1];
    agreement.min_samples = -maxima[2];
  }
  agreement.failure = maxima[5] >> kRankBits;
  agreement.failed_rank = static_cast<int>(maxima[5] & ((std::int64_t{1} << kRankBits) - 1));
  agreement.same_position = maxima[6] == -maxima[7];
  return agreement;
}

std::int64_t slots_of_round(const BatchingOptions& resolved, const Agreement& agreement) {
  if (!agreement.any_unfinished || (!resolved.join && agreement.any_finished)) return 0;
  std::int64_t slots =
      std::min({agreement.max_groups, agreement.min_samples, resolved.round_groups});
  if (resolved.join && resolved.align == Align::balanced)
    slots = std::min(slots, agreement.min_groups);
  return std::max<std::int64_t>(1, slots);
}

std::vector<std::int64_t> encode_totals(std::span<const Group> groups, std::int64_t slots,
                                        std::int64_t left_out) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(slots) * kTotalsSize);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupSums& sums = groups[i].sums;
    values[i * kTotalsSize] = sums.supervised;
    values[i * kTotalsSize + 1] = sums.tokens;
    values[i * kTotalsSize + 2] = sums.rows;
    values[i * kTotalsSize + 3] = sums.supervised > 0 ? 1 : 0;
  }
  if (slots > 0) values[4] = left_out;
  return values;
}

std::vector<SlotTotals> decode_totals(std::span<const std::int64_t> sums) {
  ODB_CHECK_EQ(sums.size() % kTotalsSize, 0u);
  std::vector<SlotTotals> totals;
  for (std::size_t i = 0; i < sums.size(); i += kTotalsSize)
    totals.push_back({.supervised = sums[i],
                      .tokens = sums[i + 1],
                      .samples = sums[i + 2],
                      .supervised_groups = sums[i + 3],
                      .left_out = sums[i + 4]});
  return totals;
}

std::vector<std::int64_t> choose_groups(std::int64_t count, std::int64_t target,
                                        std::span<const std::int64_t> overdue, Rng& shared) {
  ODB_CHECK(target >= 1 && target <= count, "{} of {} groups", target, count);
  std::vector<std::int64_t> chosen;
  std::vector<bool> is_overdue;  // by index into chosen
  // One offset for all strata: the indexes are count / target >= 1 apart, so they are distinct.
  const double offset = shared.uniform();
  for (std::int64_t k = 0; k < target; ++k) {
    const double quantile = (static_cast<double>(k) + offset) / static_cast<double>(target);
    const auto place = std::min(static_cast<std::int64_t>(quantile * static_cast<double>(count)),
                                count - target + k);
    chosen.push_back(chosen.empty() ? place : std::max(place, chosen.back() + 1));
  }
  is_overdue.assign(chosen.size(), false);
  for (std::size_t n = 0; n < overdue.size() && n < chosen.size(); ++n) {
    std::size_t nearest = chosen.size();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (is_overdue[i]) continue;
      if (nearest == chosen.size() ||
          std::abs(chosen[i] - overdue[n]) < std::abs(chosen[nearest] - overdue[n]))
        nearest = i;
    }
    chosen[nearest] = overdue[n];
    is_overdue[nearest] = true;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::int64_t max_sent_back(std::int64_t groups, std::int64_t round_groups) {
  return 4 * ((groups + round_groups - 1) / round_groups);
}

std::vector<std::int64_t> slot_order(std::int64_t slots, Rng& rng) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), 0);
  shuffle(std::span(order), rng);
  return order;
}

void sort_by_cost(std::vector<Group>& groups, const CostModel& model) {
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    const double left = model.cost(a.sums);
    const double right = model.cost(b.sums);
    return left != right ? left < right : lowest_view(a) < lowest_view(b);
  });
}

void split_groups(std::vector<Group>& groups, std::int64_t target, const CostModel& model) {
  while (static_cast<std::int64_t>(groups.size()) < target) {
    Group* costliest = nullptr;
    for (Group& group : groups) {
      if (group.rows.size() < 2) continue;
      if (costliest == nullptr || model.cost(group.sums) > model.cost(costliest->sums) ||
          (model.cost(group.sums) == model.cost(costliest->sums) &&
           lowest_view(group) < lowest_view(*costliest)))
        costliest = &group;
    }
    ODB_CHECK(costliest != nullptr, "{} groups of single samples, expected {}", groups.size(),
              target);
    const std::span<const Item> rows(costliest->rows);
    const std::size_t cut = best_cut(*costliest, model);
    Group head = make_group(rows.first(cut));
    Group tail = make_group(rows.subspan(cut));
    *costliest = std::move(head);
    groups.push_back(std::move(tail));
  }
}

}  // namespace odb
