// Twins in memory of what the training loop works with: slots, votes, the step and an observer.
// All of them write what happens into one list, so that a test can check the order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/control.h"
#include "train/step/slot_source.h"
#include "train/step/step_observer.h"
#include "train/step/training_step.h"

namespace odb {

using Calls = std::vector<std::string>;

// What a slot of a test is made of. Its number counts from 0.
struct SlotScript {
  SlotKind kind = SlotKind::data;
  bool last_of_step = false;
  std::int64_t supervised = 10;  // over all ranks
  std::vector<ViewId> views = {};
  std::vector<LeftOut> left_out = {};
  int late = 0;                           // polls that do not find it
  std::function<void()> fault = nullptr;  // thrown instead
  double loss = 1;                        // its loss sum on this rank
};

class MemorySlots final : public SlotSource {
 public:
  explicit MemorySlots(std::vector<SlotScript> script) : script_(script.begin(), script.end()) {}

  bool ready(std::chrono::milliseconds) override {
    if (next_) return true;
    if (++polls_ > 1000) throw InternalError("the loop polls for ever");
    if (script_.empty()) return false;
    SlotScript& slot = script_.front();
    if (slot.late-- > 0) return false;
    if (slot.fault) slot.fault();
    load(slot);
    script_.pop_front();
    return true;
  }
  const SlotHeader* header() const override { return next_ ? &next_->header : nullptr; }
  LoadedSlot take() override { return *std::exchange(next_, std::nullopt); }

 private:
  void load(const SlotScript& slot) {
    const bool ends = slot.kind == SlotKind::end;
    const auto samples = static_cast<std::int64_t>(slot.views.size());
    next_.emplace();
    next_->header = {.epoch = epoch_,
                     .number = number_,
                     .kind = slot.kind,
                     .last_of_step = slot.last_of_step,
                     .totals = {.supervised = slot.supervised,
                                .tokens = 2 * slot.supervised,
                                .samples = samples,
                                .supervised_groups = 1}};
    if (slot.kind == SlotKind::data)
      next_->batch = MicroBatch{.rows = RowOffsets::padded(1, 1), .supervised = slot.supervised};
    next_->views = slot.views;
    next_->left_out = slot.left_out;
    if (slot.last_of_step || ends) next_->state_after = DataState{.slots_taken = number_ + 1};
    ++number_;
    if (ends) ++epoch_;
  }

  std::deque<SlotScript> script_;
  std::optional<LoadedSlot> next_;
  std::int64_t number_ = 0;
  std::int64_t epoch_ = 0;
  int polls_ = 0;
};

// Votes with one other rank, which votes as `other` says, or as this rank does.
class MemoryControl final : public ControlChannel {
 public:
  using Other = std::function<ControlVote(const ControlVote& own, int number)>;

  explicit MemoryControl(Other other = nullptr) : other_(std::move(other)) {}

  const std::vector<ControlVote>& votes() const { return votes_; }

  void begin(const ControlVote& vote) override {
    ODB_CHECK(!pending_, "a vote is under way");
    if (votes_.size() > 1000) throw InternalError("the loop votes for ever");
    const ControlVote other =
        other_ ? other_(vote, static_cast<int>(votes_.size())) : ControlVote{vote};
    votes_.push_back(vote);
    const bool both = vote.ready && other.ready;
    pending_ = {.stop = vote.stop || other.stop,
                .all_ready = both,
                .loss_sum = vote.loss_sum + other.loss_sum,
                .failure = std::max(vote.failure, other.failure),
                .same_slot =
                    !both || (vote.slot == other.slot && vote.slot_checksum == other.slot_checksum),
                .lowest_slot = std::min(vote.slot, other.slot),
                .highest_slot = std::max(vote.slot, other.slot)};
  }
  bool under_way() const override { return pending_.has_value(); }
  ControlResult await() override { return *std::exchange(pending_, std::nullopt); }

 private:
  Other other_;
  std::vector<ControlVote> votes_;
  std::optional<ControlResult> pending_;
};

// A step that computes nothing: losses and updates are those of the script, in order.
class MemoryStep final : public TrainingStep {
 public:
  MemoryStep(Calls& calls, std::deque<double> losses, std::deque<StepUpdate> updates = {})
      : calls_(calls), losses_(std::move(losses)), updates_(std::move(updates)) {}

  void forward(const MicroBatch* batch) override {
    calls_.push_back(batch ? "forward" : "forward without data");
    loss_ = 0;
    if (batch == nullptr || losses_.empty()) return;
    loss_ = losses_.front();
    losses_.pop_front();
  }
  bool loss_is_ready() const override { return ready_at_once; }
  double loss_sum() override { return loss_; }
  void backward(bool last) override { calls_.push_back(last ? "backward, reduce" : "backward"); }
  StepUpdate update(const SlotTotals& totals, double rate) override {
    calls_.push_back("update of " + std::to_string(totals.supervised));
    StepUpdate result{.updated = true, .gradient_norm = 1, .learning_rate = rate};
    if (updates_.empty()) return result;
    result = updates_.front();
    updates_.pop_front();
    return result;
  }
  void drop() override { calls_.push_back("drop"); }

  bool ready_at_once = true;  // as on the CPU

 private:
  Calls& calls_;
  std::deque<double> losses_;
  std::deque<StepUpdate> updates_;
  double loss_ = 0;
};

// Records every call.
class CallRecorder final : public StepObserver {
 public:
  explicit CallRecorder(Calls& calls) : calls_(calls) {}

  void begin_step(std::int64_t step) override { add("begin step", step); }
  void begin_slot(const SlotHeader& slot) override { add("begin slot", slot.number); }
  void end_slot(const SlotHeader& slot) override { add("end slot", slot.number); }
  void end_step(const FinishedStep& step) override {
    add("end step", step.step);
    steps.push_back(step);
  }
  void end_epoch(const FinishedStep& rest) override {
    add("end epoch", rest.epoch);
    epochs.push_back(rest);
  }
  void on_measured(const StepMeasure& measure, const Progress& progress) override {
    add("measured", progress.totals().steps);
    measures.push_back(measure);
  }
  bool between_steps(const Progress& progress) override {
    add("between", progress.totals().steps);
    return !between || between(progress);
  }

  std::function<bool(const Progress&)> between;
  std::vector<FinishedStep> steps, epochs;
  std::vector<StepMeasure> measures;

 private:
  void add(const char* what, std::int64_t number) {
    calls_.push_back(std::string(what) + " " + std::to_string(number));
  }
  Calls& calls_;
};

}  // namespace odb
