#include "batching/strategies/make_source.h"

#include <utility>

#include "base/error.h"
#include "base/permutation.h"
#include "batching/odb_source.h"
#include "batching/strategies/planned_source.h"
#include "batching/strategies/standard.h"

namespace odb {
namespace {

Permutation order_of(const Epoch& epoch) {
  return {epoch.data_size, epoch.seed, static_cast<std::uint64_t>(epoch.number)};
}

}  // namespace

Epoch make_epoch(const BatchingOptions& resolved, std::uint64_t seed, std::int64_t data_size,
                 std::int64_t number, LengthTable lengths) {
  ODB_CHECK(!lengths || static_cast<std::int64_t>(lengths->size()) == data_size,
            "{} lengths for {} samples", lengths->size(), data_size);
  Epoch epoch{
      .options = resolved, .seed = seed, .data_size = data_size, .number = number, .plan = nullptr};
  epoch.plan = plan_epoch({.lengths = std::move(lengths),
                           .options = resolved,
                           .seed = seed,
                           .epoch = static_cast<std::uint64_t>(number)});
  return epoch;
}

RoundStart start_of_epoch(const Epoch& epoch, int rank, int world) {
  const std::int64_t positions = epoch.plan ? epoch.plan->size() : epoch.data_size;
  return first_round(epoch.options, positions, rank, world, epoch.number);
}

std::unique_ptr<GroupSource> make_source(const Epoch& epoch, const RoundStart& start,
                                         LeftoverList leftovers) {
  if (epoch.plan)
    return std::make_unique<PlannedSource>(epoch.options, epoch.plan, std::move(leftovers), start);
  if (epoch.options.strategy == Strategy::standard)
    return std::make_unique<StandardSource>(epoch.options, order_of(epoch), std::move(leftovers),
                                            start);
  return std::make_unique<OdbSource>(epoch.options, order_of(epoch), std::move(leftovers), start);
}

ViewsAt views_of_position(const Epoch& epoch) {
  if (!epoch.plan)
    return [order = order_of(epoch)](std::int64_t position) {
      return std::vector<ViewId>{order(position)};
    };
  return [plan = epoch.plan](std::int64_t position) {
    const auto batch = plan->batch(position);
    return std::vector<ViewId>(batch.begin(), batch.end());
  };
}

}  // namespace odb
