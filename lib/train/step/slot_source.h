// The slots of training as the loop takes them: copied out of the arena, so that the arena's slot
// is released at once, with the data state at the end of a step.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "batching/state.h"
#include "data/loader/pipeline.h"
#include "train/step/micro_batch.h"

namespace odb {

struct LoadedSlot {
  SlotHeader header;
  std::optional<MicroBatch> batch;  // of kind data
  std::vector<ViewId> views;        // of the batch
  std::vector<LeftOut> left_out;    // of the round's refill: with its first slot, or the end slot
  std::optional<DataState> state_after;  // last of a step, or the end slot: the state to save then
};

class SlotSource {
 public:
  virtual ~SlotSource() = default;

  // Whether the next slot is ready; waits for it up to `limit`, and loads it. Throws the Error that
  // ended the data processes.
  virtual bool ready(std::chrono::milliseconds limit) = 0;
  // Header of the slot that is ready; null: none.
  virtual const SlotHeader* header() const = 0;
  // Takes the slot that is ready.
  virtual LoadedSlot take() = 0;
};

// The slots of a rank's data processes.
class PipelineSlots final : public SlotSource {
 public:
  // `pipeline` is started, and outlives the source.
  PipelineSlots(Pipeline& pipeline, const MicroBatchBuilder& builder);

  bool ready(std::chrono::milliseconds limit) override;
  const SlotHeader* header() const override { return next_ ? &next_->header : nullptr; }
  LoadedSlot take() override;

 private:
  Pipeline& pipeline_;
  MicroBatchBuilder builder_;
  std::optional<LoadedSlot> next_;
};

}  // namespace odb
