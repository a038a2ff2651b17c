#include "train/step/slot_source.h"

#include <utility>

#include "base/error.h"

namespace odb {

PipelineSlots::PipelineSlots(Pipeline& pipeline, const MicroBatchBuilder& builder)
    : pipeline_(pipeline), builder_(builder) {}

bool PipelineSlots::ready(std::chrono::milliseconds limit) {
  if (next_) return true;
  const std::optional<BatchView> view = pipeline_.next(limit);
  if (!view) return false;
  LoadedSlot& slot = next_.emplace();
  slot.header = view->header;
  if (view->header.kind == SlotKind::data) slot.batch = builder_.build(*view);
  slot.views.assign(view->views.begin(), view->views.end());
  slot.left_out.assign(view->left_out.begin(), view->left_out.end());
  if (view->header.last_of_step || view->header.kind == SlotKind::end)
    slot.state_after = pipeline_.state();
  pipeline_.release();
  return true;
}

LoadedSlot PipelineSlots::take() {
  ODB_CHECK(next_.has_value(), "no slot is ready");
  return *std::exchange(next_, std::nullopt);
}

}  // namespace odb
