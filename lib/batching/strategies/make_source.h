// Creates the source of --batching and the start of its epoch.
#pragma once

#include <cstdint>
#include <memory>

#include "batching/group_source.h"
#include "batching/redeal.h"
#include "batching/rounds.h"
#include "batching/sampler.h"
#include "batching/state.h"
#include "batching/strategies/epoch_plan.h"

namespace odb {

// One epoch of a run: what all ranks share.
struct Epoch {
  BatchingOptions options;  // resolved
  std::uint64_t seed = 0;
  std::int64_t data_size = 0;
  std::int64_t number = 0;
  std::shared_ptr<const EpochPlan> plan;  // null for odb and standard
};

// Makes the plan if the strategy has one; otherwise `lengths` may be null. Throws what plan_epoch
// throws.
Epoch make_epoch(const BatchingOptions& resolved, std::uint64_t seed, std::int64_t data_size,
                 std::int64_t number, LengthTable lengths);

// Where rank `rank` of `world` begins the epoch.
RoundStart start_of_epoch(const Epoch& epoch, int rank, int world);

// The source of a rank that begins at `start`. `leftovers` may be null if `start` names none.
std::unique_ptr<GroupSource> make_source(const Epoch& epoch, const RoundStart& start,
                                         LeftoverList leftovers = nullptr);

// The views of a sampler position, as redeal() needs them. Valid as long as `epoch`.
ViewsAt views_of_position(const Epoch& epoch);

}  // namespace odb
