#include "batching/lock_step.h"

#include <algorithm>

#include "base/error.h"

namespace odb {
namespace {

using Values = std::vector<std::int64_t>;

template <typename Combine>
void combine(Values& all, const Values& own, Combine operation) {
  if (all.empty()) {
    all = own;
    return;
  }
  ODB_CHECK_EQ(all.size(), own.size());
  std::transform(all.begin(), all.end(), own.begin(), all.begin(), operation);
}

}  // namespace

void fill(Rounds& rounds, const Prepare& prepare) {
  constexpr std::int64_t kAtOnce = 64;
  while (rounds.filling()) {
    for (const ViewId view : rounds.upcoming(kAtOnce)) {
      if (!rounds.filling()) break;
      const Prepared prepared = prepare(view);
      if (const auto* item = std::get_if<Item>(&prepared))
        rounds.deliver(*item);
      else
        rounds.leave_out(std::get<LeftOut>(prepared));
    }
  }
}

std::vector<std::vector<Slot>> lock_step_round(std::vector<Rounds>& ranks, const Prepare& prepare) {
  Values maxima;
  for (Rounds& rounds : ranks) {
    fill(rounds, prepare);
    combine(maxima, rounds.offer(), [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  Values sums;
  for (Rounds& rounds : ranks)
    combine(sums, rounds.agree(maxima), std::plus<>());
  std::vector<std::vector<Slot>> slots;
  slots.reserve(ranks.size());
  for (Rounds& rounds : ranks)
    slots.push_back(rounds.total(sums));
  return slots;
}

}  // namespace odb
