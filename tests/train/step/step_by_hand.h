// Steps that tests construct: samples, how they are dealt out to ranks and micro-steps, and the
// batches and totals that data processes would make of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "batching/options.h"
#include "batching/slot.h"
#include "train/step/micro_batch.h"

namespace odb {

// Labels as in a batch: the token itself or -100; the first is never supervised.
struct HandSample {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> labels;

  std::int64_t length() const { return static_cast<std::int64_t>(tokens.size()); }
  std::int64_t supervised() const;
};

// Lengths 2 to 14; about one in six has nothing supervised.
std::vector<HandSample> random_samples(std::uint64_t seed, std::size_t count,
                                       std::int32_t vocabulary);

// Samples of one rank in one micro-step, by index; none: it is idle.
using HandGroup = std::vector<std::size_t>;
// step[micro-step][rank].
using HandStep = std::vector<std::vector<HandGroup>>;

std::int64_t supervised_in(const std::vector<HandSample>& samples, const HandGroup& group);

// The sum of what the slots of the step come with.
SlotTotals totals_of(const std::vector<HandSample>& samples, const HandStep& step);

// As MicroBatchBuilder makes it of a slot on the CPU. Nothing for an empty group.
std::optional<MicroBatch> batch_of(const std::vector<HandSample>& samples, const HandGroup& group,
                                   Layout layout, LossNorm norm);

// When which ranks are idle.
enum class Idle {
  nobody,
  some,              // a third of all groups
  one_rank,          // one rank in every micro-step
  all_but_one_last,  // in the last micro-step only one rank has data
  closing            // in the last micro-step nobody has
};

// All `samples` (at least one a group) dealt out at random to the groups that are not idle; each of
// those gets one at least.
HandStep random_step(std::uint64_t seed, std::size_t samples, int world, int micro_steps,
                     Idle idle);

}  // namespace odb
