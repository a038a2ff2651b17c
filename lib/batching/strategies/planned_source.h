// Groups from an epoch plan: this rank's batches in their order.
//
// A round draws batches until --round-groups wait, and hands out the first T of them. A position of
// the sampler is the number of a batch. Views left over by a change of the number of ranks are
// drawn first, cut into batches by the plan's limit in the order of their list. Bad rows
// are dropped from their batch; a batch that loses all rows is skipped.
//
// State: the sampler's position, and as window the views of batches that were drawn but not handed
// out (another rank had fewer), each with the number of its batch among those, in `sent_back`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "batching/group_source.h"
#include "batching/sampler.h"
#include "batching/strategies/epoch_plan.h"

namespace odb {

class PlannedSource final : public GroupSource {
 public:
  // `leftovers` may be null when the position of `start` names none.
  PlannedSource(const BatchingOptions& resolved, std::shared_ptr<const EpochPlan> plan,
                LeftoverList leftovers, const RoundStart& start);

  std::vector<ViewId> upcoming(std::int64_t limit) const override;
  bool filling() const override;
  // DataError: the length differs from the one in the plan.
  void deliver(const Item& item) override;
  void leave_out(ViewId view) override;
  std::vector<Item> items() const override;
  Supply supply() override;
  std::vector<Group> take(std::int64_t count, Rng shared, Rng own) override;
  std::int64_t remaining() const override { return remaining_; }
  void save(RoundStart& start) const override;

 private:
  // The batch at `position`, or what remains of it to be planned there; empty: there is none.
  std::span<const ViewId> batch_at(const SamplerPosition& position) const;
  static void advance(SamplerPosition& position, std::size_t batch_size);
  bool restoring() const { return next_restored_ < restored_.size(); }
  void draw(ViewId view);
  void close_batch_if_complete();

  CostModel model_;
  std::int64_t round_groups_;
  std::shared_ptr<const EpochPlan> plan_;
  LeftoverList leftovers_;
  SamplerPosition position_;           // of the batch after the one being drawn
  std::vector<WindowEntry> restored_;  // window of the start, to be drawn again
  std::size_t next_restored_ = 0;
  std::span<const ViewId> batch_;  // being drawn
  std::size_t next_in_batch_ = 0;
  std::vector<Item> open_;      // its rows so far
  std::vector<Group> waiting_;  // complete batches
  std::int64_t remaining_ = 0;
};

}  // namespace odb
