#include "train/step/training_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/seconds_since.h"
#include "batching/loss_weights.h"
#include "batching/slot.h"
#include "train/step/view_list.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// A rank without its slot votes so after this time, and all vote again, so that a stop is noticed
// meanwhile.
constexpr std::chrono::milliseconds kPatience{100};

// Adds the seconds that `call` takes to `sum`.
template <typename Call>
decltype(auto) timed(double& sum, Call&& call) {
  struct Adding {
    double& sum;
    Clock::time_point begin = Clock::now();
    ~Adding() { sum += seconds_since(begin); }
  } adding{sum};
  return std::forward<Call>(call)();
}

}  // namespace

TrainingLoop::TrainingLoop(const TrainingLoopOptions& options, LoopParts parts, Progress progress,
                           DataState start)
    : options_(options),
      parts_(std::move(parts)),
      progress_(std::move(progress)),
      state_(std::move(start)) {}

template <typename... Parameters, typename... Arguments>
void TrainingLoop::notify(void (StepObserver::*event)(Parameters...), Arguments&&... arguments) {
  timed(seconds_.events, [&] {
    for (StepObserver* observer : parts_.observers)
      (observer->*event)(arguments...);
  });
}

bool TrainingLoop::go_on_between_steps() {
  return timed(seconds_.events, [&] {
    return std::ranges::all_of(parts_.observers, [&](StepObserver* observer) {
      return observer->between_steps(progress_);
    });
  });
}

LoopEnd TrainingLoop::run() {
  begin_ = Clock::now();
  try {
    while (!progress_.done() && !end_.stopped) {
      const std::optional<LoadedSlot> slot = next_slot();
      if (!slot)
        end_.stopped = true;
      else if (slot->header.kind == SlotKind::end)
        end_epoch(*slot);
      else
        run_slot(*slot);
    }
    if (pending_report_) {  // its loss is not known yet
      vote();
      await_vote();
    }
  } catch (const DivergedError&) {
    end_ = {.stopped = true, .failure = std::current_exception()};
  }
  parts_.step.drop();
  seconds_.all = seconds_since(begin_);
  return end_;
}

// The next slot once all ranks have theirs; none: a stop, or a failure.
std::optional<LoadedSlot> TrainingLoop::next_slot() {
  for (;;) {
    if (!parts_.control.under_way()) {
      timed(seconds_.data_wait, [&] { return poll(kPatience); });
      vote();
    }
    const ControlResult result = await_vote();
    end_.failure = failure_of(result);
    if (end_.failure || result.stop) return std::nullopt;
    if (result.save) parts_.on_save_agreed();
    if (std::exchange(at_boundary_, false) && !go_on_between_steps()) return std::nullopt;
    if (result.all_ready) return parts_.slots.take();
  }
}

// Whether the next slot is ready. A failure of the pipeline is kept for the vote, so that no rank
// waits in vain.
bool TrainingLoop::poll(std::chrono::milliseconds limit) {
  if (failure_) return false;
  try {
    return parts_.slots.ready(limit);
  } catch (const Error&) {
    failure_ = std::current_exception();
    return false;
  }
}

void TrainingLoop::vote() {
  ControlVote vote{.stop = parts_.stop_asked(),
                   .save = parts_.save_asked(),
                   .ready = poll(std::chrono::milliseconds(0)),
                   .loss_sum = std::exchange(own_loss_, 0)};
  if (const SlotHeader* header = vote.ready ? parts_.slots.header() : nullptr) {
    vote.slot = header->number;
    vote.slot_checksum = shared_checksum(header->epoch, header->number, header->kind,
                                         header->last_of_step, header->totals);
  }
  if (failure_) vote.failure = static_cast<int>(odb::failure_of(failure_).code);
  parts_.control.begin(vote);
}

ControlResult TrainingLoop::await_vote() {
  const ControlResult result = timed(seconds_.control, [&] { return parts_.control.await(); });
  report_step(result.loss_sum);
  return result;
}

std::exception_ptr TrainingLoop::failure_of(const ControlResult& result) const {
  if (failure_) return failure_;
  if (!result.same_slot)
    return std::make_exception_ptr(InternalError(
        "rank {}: the ranks hold different slots ({}), expected the same one with the same totals; "
        "none is trained; compare the data files and releases of all ranks, start the run again "
        "from its last checkpoint, and report this",
        options_.rank,
        result.lowest_slot == result.highest_slot
            ? fmt::format("number {}, with other totals", result.lowest_slot)
            : fmt::format("numbers {} to {}", result.lowest_slot, result.highest_slot)));
  if (result.failure == 0) return nullptr;
  return std::make_exception_ptr(
      OtherRankFailed(static_cast<ExitCode>(result.failure),
                      "another rank cannot go on; its own message says why"));
}

void TrainingLoop::run_slot(const LoadedSlot& slot) {
  if (!std::exchange(open_.begun, true))
    notify(&StepObserver::begin_step, progress_.totals().steps + 1);
  notify(&StepObserver::begin_slot, slot.header);
  gather(slot);
  timed(seconds_.forward, [&] { parts_.step.forward(slot.batch ? &*slot.batch : nullptr); });
  const bool last = slot.header.last_of_step;
  const auto go_on = [&] {
    own_loss_ = parts_.step.loss_sum();
    if (!std::isfinite(own_loss_))
      open_.suspects.insert(open_.suspects.end(), slot.views.begin(), slot.views.end());
    Progress after = progress_;
    if (last) after.add_step(count_of_step());
    if (!after.done() && poll(std::chrono::milliseconds(0))) vote();
  };
  // On the CPU the loss is known now. A GPU has it only after its queued work, which should include
  // the backward pass by then.
  const bool at_once = parts_.step.loss_is_ready();
  if (at_once) go_on();
  timed(seconds_.backward, [&] { parts_.step.backward(last); });
  if (!at_once) go_on();
  notify(&StepObserver::end_slot, slot.header);
  if (last) finish_step(slot);
}

void TrainingLoop::gather(const LoadedSlot& slot) {
  const SlotHeader& header = slot.header;
  open_.totals.add(header.totals);
  if (header.kind != SlotKind::closing)
    open_.idle_slots += options_.world - header.totals.supervised_groups;
  open_.views.insert(open_.views.end(), slot.views.begin(), slot.views.end());
  open_.left_out.insert(open_.left_out.end(), slot.left_out.begin(), slot.left_out.end());
  if (header.kind != SlotKind::data) return;
  if (header.over_budget && options_.keeps_budget && !std::exchange(warned_over_budget_, true))
    log("step").warn(
        "a sample of {} tokens is longer than --l-max {}: such samples get a micro-batch of their "
        "own; this is reported once",
        header.tokens, options_.l_max);
  open_.measure.padded_tokens += header.padded_tokens;
  open_.measure.real_tokens += header.tokens;
  open_.measure.fill_sum +=
      static_cast<double>(header.padded_tokens) / static_cast<double>(options_.l_max);
  ++open_.measure.groups;
}

StepCount TrainingLoop::count_of_step() const {
  return {.samples = open_.totals.samples,
          .tokens = open_.totals.tokens,
          .supervised_tokens = open_.totals.supervised,
          .left_out = open_.totals.left_out,
          .idle_slots = open_.idle_slots,
          .skipped = open_.skipped,
          .seconds = seconds_since(begin_) - open_.seconds_before};
}

void TrainingLoop::finish_step(const LoadedSlot& slot) {
  StepMeasure& measure = open_.measure;
  const double lr = options_.learning_rate * learning_rate_factor(options_.schedule, progress_);
  const StepUpdate update =
      timed(seconds_.update, [&] { return parts_.step.update(open_.totals, lr); });
  measure.lr = update.learning_rate;
  measure.grad_norm = update.gradient_norm;
  check_finite(update, progress_.totals().steps + 1);
  open_.skipped = !update.finite;
  measure.count = count_of_step();
  measure.data_wait_seconds = seconds_.data_wait - open_.data_wait_before;
  progress_.add_step(measure.count);
  state_ = slot.state_after.value();
  pending_report_ = measure;
  denominator_ = loss_denominator(options_.loss_norm, open_.totals);
  const FinishedStep finished{.epoch = slot.header.epoch,
                              .step = progress_.totals().steps,
                              .views = std::move(open_.views),
                              .left_out = std::move(open_.left_out)};
  open_ = {};
  open_.seconds_before = seconds_since(begin_);
  open_.data_wait_before = seconds_.data_wait;
  at_boundary_ = true;
  notify(&StepObserver::end_step, finished);
}

void TrainingLoop::check_finite(const StepUpdate& update, std::int64_t step) {
  if (update.finite) return;
  const std::string where =
      open_.suspects.empty()
          ? fmt::format("the losses of rank {} are finite, its views of the step: {}",
                        options_.rank, view_list(open_.views))
          : fmt::format("rank {} has losses that are not finite, of views {}", options_.rank,
                        view_list(open_.suspects));
  if (options_.on_nan == OnNan::stop)
    throw DivergedError(
        "step {}: the gradient's norm is {}, expected a finite one; {}. The weights are those of "
        "step {}; try a lower --lr, a longer --warmup, or --on-nan skip",
        step, update.gradient_norm, where, step - 1);
  const std::int64_t in_a_row = progress_.totals().skipped_in_a_row + 1;
  if (in_a_row >= options_.max_nan_steps)
    throw DivergedError("step {}: no finite gradient for {} steps in a row (--max-nan-steps); {}",
                        step, in_a_row, where);
  log("step").warn("step {} is skipped: the gradient's norm is {}; {}", step, update.gradient_norm,
                   where);
}

void TrainingLoop::end_epoch(const LoadedSlot& slot) {
  // With --join on, all views of the epoch are done here.
  const std::int64_t undone = progress_.limits().data_size - progress_.totals().epoch_views;
  progress_.end_epoch(options_.join ? undone : 0);
  state_ = slot.state_after.value();
  at_boundary_ = true;
  const FinishedStep rest{.epoch = slot.header.epoch,
                          .step = progress_.totals().steps,
                          .views = {},
                          .left_out = slot.left_out};
  notify(&StepObserver::end_epoch, rest);
}

// The vote after a step's last slot completes its loss.
void TrainingLoop::report_step(double loss_sum) {
  loss_sum_ += loss_sum;
  if (!pending_report_) return;
  StepMeasure measure = *std::exchange(pending_report_, std::nullopt);
  measure.loss = denominator_ == 0 ? 0 : loss_sum_ / static_cast<double>(denominator_);
  loss_sum_ = 0;
  notify(&StepObserver::on_measured, measure, progress_);
}

}  // namespace odb
