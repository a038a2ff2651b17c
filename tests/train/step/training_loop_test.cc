// The training loop alone: one rank with scripted slots and votes, no process, file or model.
#include "train/step/training_loop.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "loop_twins.h"

using namespace odb;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Scenario {
  std::vector<SlotScript> slots;
  MemoryControl::Other other = nullptr;  // how the other rank votes; as this one by default
  std::deque<StepUpdate> updates = {};
  RunLimits limits{.data_size = 100, .steps = 2};
  TrainingLoopOptions options{.world = 2, .learning_rate = 1};
  std::function<bool()> stop_asked = [] { return false; };
  std::function<bool(const Progress&)> between = nullptr;
  bool ready_at_once = true;
};

struct Outcome {
  LoopEnd end;
  Calls calls;
  RunTotals totals;
  DataState state;
  std::vector<ControlVote> votes;
  std::vector<FinishedStep> steps, epochs;
  std::vector<StepMeasure> measures;

  Failure failure() const {
    REQUIRE(end.failure != nullptr);
    return failure_of(end.failure);
  }
};

Outcome run(Scenario scenario) {
  Outcome outcome;
  std::deque<double> losses;
  for (const SlotScript& slot : scenario.slots)
    if (slot.kind == SlotKind::data) losses.push_back(slot.loss);
  MemorySlots slots(std::move(scenario.slots));
  MemoryControl control(std::move(scenario.other));
  MemoryStep step(outcome.calls, std::move(losses), std::move(scenario.updates));
  step.ready_at_once = scenario.ready_at_once;
  CallRecorder recorder(outcome.calls);
  recorder.between = std::move(scenario.between);
  TrainingLoop loop(scenario.options,
                    {.slots = slots,
                     .control = control,
                     .step = step,
                     .observers = {&recorder},
                     .stop_asked = std::move(scenario.stop_asked)},
                    Progress(scenario.limits), {});
  outcome.end = loop.run();
  outcome.totals = loop.progress().totals();
  outcome.state = loop.state();
  outcome.votes = control.votes();
  outcome.steps = recorder.steps;
  outcome.epochs = recorder.epochs;
  outcome.measures = recorder.measures;
  return outcome;
}

SlotScript slot(bool last, std::vector<ViewId> views = {}) {
  return {.last_of_step = last, .views = std::move(views)};
}

int count(const Calls& calls, const std::string& what) {
  return static_cast<int>(std::ranges::count(calls, what));
}

}  // namespace

TEST_CASE("the loop calls step and observers in order, and reports a loss after the next vote") {
  const Outcome outcome = run({.slots = {slot(false, {3}), slot(true, {4, 5}), slot(true, {6})}});
  CHECK(outcome.calls ==
        Calls{"begin step 1",     "begin slot 0", "forward",      "backward",
              "end slot 0",       "begin slot 1", "forward",      "backward, reduce",
              "end slot 1",       "update of 20", "end step 1",   "measured 1",
              "between 1",        "begin step 2", "begin slot 2", "forward",
              "backward, reduce", "end slot 2",   "update of 10", "end step 2",
              "measured 2",       "drop"});
  CHECK_FALSE(outcome.end.stopped);
  CHECK(outcome.end.failure == nullptr);
  CHECK(outcome.steps[0].views == std::vector<ViewId>{3, 4, 5});
  CHECK(outcome.steps[1].views == std::vector<ViewId>{6});
  CHECK(outcome.totals.steps == 2);
  CHECK(outcome.totals.samples == 4);
  CHECK(outcome.state.slots_taken == 3);
}

TEST_CASE("the order is the same where the loss is known only after the backward pass") {
  const Scenario cpu{.slots = {slot(false), slot(true), slot(true)}};
  Scenario gpu = cpu;
  gpu.ready_at_once = false;
  CHECK(run(gpu).calls == run(cpu).calls);
}

TEST_CASE("a step's loss is the sum over ranks and slots over the supervised tokens") {
  Scenario scenario{.slots = {slot(false), slot(true), slot(true)}};
  scenario.slots[0].loss = 3;
  scenario.slots[1].loss = 5;
  scenario.other = [](const ControlVote& own, int) {
    ControlVote vote = own;
    vote.loss_sum = 3 * own.loss_sum;
    return vote;
  };
  const Outcome outcome = run(scenario);
  REQUIRE(outcome.measures.size() == 2);
  CHECK(outcome.measures[0].loss == (3 + 5) * 4 / 20.0);
  CHECK(outcome.measures[1].loss == 4 / 10.0);
}

TEST_CASE("a stop of either rank ends the loop before the next slot, and drops the open step") {
  int asked = 0;
  Scenario own{.slots = {slot(true), slot(false), slot(true)}};
  own.stop_asked = [&asked] { return ++asked > 2; };
  Scenario other{.slots = {slot(true), slot(false), slot(true)}};
  other.other = [](const ControlVote& vote, int number) {
    ControlVote stopping = vote;
    stopping.stop = number == 2;
    return stopping;
  };
  for (const Outcome& outcome : {run(own), run(other)}) {
    CHECK(outcome.end.stopped);
    CHECK(outcome.end.failure == nullptr);
    CHECK(outcome.totals.steps == 1);
    CHECK(outcome.state.slots_taken == 1);
    CHECK(outcome.calls.back() == "drop");
    CHECK(count(outcome.calls, "forward") == 2);
  }
}

TEST_CASE("a rank without data goes through the passes, and counts as idle") {
  Scenario scenario{.slots = {slot(true), slot(true)}};
  scenario.slots[0].kind = SlotKind::idle;
  const Outcome outcome = run(scenario);
  CHECK(outcome.calls[2] == "forward without data");
  CHECK(outcome.calls[3] == "backward, reduce");
  CHECK(outcome.totals.steps == 2);
  CHECK(outcome.totals.idle_slots == 2);  // one of two ranks had data in each slot
  CHECK(outcome.measures[0].padded_tokens == 0);
}

TEST_CASE("a slot that is late on either rank is voted on again, and run once") {
  Scenario own{.slots = {slot(true), slot(true)}};
  own.slots[1].late = 5;
  Scenario other{.slots = {slot(true), slot(true)}};
  other.other = [](const ControlVote& vote, int number) {
    ControlVote late = vote;
    late.ready = vote.ready && number != 1 && number != 2;
    return late;
  };
  for (const Outcome& outcome : {run(own), run(other)}) {
    CHECK(outcome.votes.size() > 3);
    CHECK(outcome.totals.steps == 2);
    CHECK(count(outcome.calls, "forward") == 2);
    CHECK(count(outcome.calls, "measured 1") == 1);
  }
}

TEST_CASE("a rank whose data fails reports it with its vote, and ends with its own error") {
  Scenario scenario{.slots = {slot(true), slot(true)}};
  scenario.slots[1].fault = [] { throw DataError("chat.jsonl:7: found no object"); };
  const Outcome outcome = run(scenario);
  CHECK(outcome.end.stopped);
  CHECK(outcome.failure() ==
        Failure{.code = ExitCode::data, .message = "chat.jsonl:7: found no object"});
  CHECK(outcome.votes.back().failure == static_cast<int>(ExitCode::data));
  CHECK_FALSE(outcome.votes.back().ready);
  CHECK(outcome.totals.steps == 1);
}

TEST_CASE("a rank that learns of another's failure ends with its exit code") {
  Scenario scenario{.slots = {slot(true), slot(true)}};
  scenario.other = [](const ControlVote& vote, int number) {
    ControlVote failing = vote;
    if (number == 1) failing.failure = static_cast<int>(ExitCode::data);
    return failing;
  };
  const Outcome outcome = run(scenario);
  CHECK(outcome.failure().code == ExitCode::data);
  CHECK(outcome.failure().cause == FailureCause::other_rank);
  CHECK(outcome.totals.steps == 1);
}

TEST_CASE("ranks that hold different slots, or slots with other totals, do not train them") {
  for (const bool other_number : {true, false}) {
    Scenario scenario{.slots = {slot(true), slot(true)}};
    scenario.other = [&](const ControlVote& vote, int number) {
      ControlVote different = vote;
      if (number == 1) (other_number ? different.slot : different.slot_checksum) += 1;
      return different;
    };
    const Outcome outcome = run(scenario);
    CHECK(outcome.failure().code == ExitCode::internal);
    CHECK_THAT(outcome.failure().message,
               Catch::Contains(other_number ? "numbers 1 to 2" : "number 1, with other totals"));
    CHECK(outcome.totals.steps == 1);
  }
}

TEST_CASE(
    "with --on-nan stop, the first gradient that is not finite ends the run and names views") {
  Scenario scenario{.slots = {slot(true, {1}), slot(true, {7, 8})}};
  scenario.slots[1].loss = kNaN;
  scenario.updates = {{.updated = true, .gradient_norm = 1},
                      {.finite = false, .gradient_norm = kNaN}};
  const Outcome outcome = run(scenario);
  CHECK(outcome.end.stopped);
  CHECK(outcome.failure().code == ExitCode::diverged);
  CHECK_THAT(outcome.failure().message,
             Catch::Contains("step 2") && Catch::Contains("of views 7, 8"));
  CHECK(outcome.totals.steps == 1);
  CHECK(outcome.state.slots_taken == 1);
}

TEST_CASE(
    "with --on-nan skip, such steps are counted and skipped, up to --max-nan-steps in a row") {
  const StepUpdate good{.updated = true, .gradient_norm = 1};
  const StepUpdate bad{.finite = false, .gradient_norm = kNaN};
  Scenario scenario{.slots = std::vector<SlotScript>(6, slot(true))};
  scenario.limits.steps = 6;
  scenario.options.on_nan = OnNan::skip;
  scenario.options.max_nan_steps = 2;
  scenario.updates = {good, bad, good, bad, good, bad};
  const Outcome scattered = run(scenario);
  CHECK(scattered.end.failure == nullptr);
  CHECK(scattered.totals.steps == 6);
  CHECK(scattered.totals.skipped_steps == 3);
  scenario.updates = {good, bad, bad, good, good, good};
  const Outcome in_a_row = run(scenario);
  CHECK(in_a_row.failure().code == ExitCode::diverged);
  CHECK(in_a_row.totals.steps == 2);
}

TEST_CASE("the end of an epoch is reported with the rows that it left out, and a pause follows") {
  const std::vector<LeftOut> rest{{.view = 9, .reason = LeftOutReason::bad_record}};
  Scenario scenario{.slots = {slot(true, {1}),
                              {.kind = SlotKind::end, .supervised = 0, .left_out = rest},
                              slot(true, {2})}};
  scenario.limits = {.data_size = 2, .steps = 2};
  const Outcome outcome = run(scenario);
  CHECK(count(outcome.calls, "end epoch 0") == 1);
  CHECK(outcome.calls[8] == "between 1");
  CHECK(outcome.calls[9] == "end epoch 0");
  CHECK(outcome.calls[10] == "between 1");
  REQUIRE(outcome.epochs.size() == 1);
  CHECK((outcome.epochs[0].left_out == rest));  // LibTorch prints vectors, but not of these
  CHECK(outcome.epochs[0].step == 1);
  CHECK(outcome.totals.epoch == 1);
  CHECK(outcome.totals.left_out == 1);  // the view that was not trained
  CHECK(outcome.totals.steps == 2);
}

TEST_CASE("with --join off, views that were not drawn do not count as left out") {
  Scenario scenario{
      .slots = {slot(true, {1}), {.kind = SlotKind::end, .supervised = 0}, slot(true, {2})}};
  scenario.limits = {.data_size = 50, .steps = 2};
  scenario.options.join = false;
  CHECK(run(scenario).totals.left_out == 0);
}

TEST_CASE("an observer can end the run between two steps, and its error passes through") {
  Scenario scenario{.slots = {slot(true), slot(true)}};
  scenario.between = [](const Progress&) { return false; };
  const Outcome stopped = run(scenario);
  CHECK(stopped.end.stopped);
  CHECK(stopped.end.failure == nullptr);
  CHECK(stopped.totals.steps == 1);
  CHECK(count(stopped.calls, "measured 1") == 1);
  scenario.between = [](const Progress&) -> bool { throw FileError("no space"); };
  CHECK_THROWS_AS(run(scenario), FileError);
}

TEST_CASE("a limit is reached in the middle of the slots that are ready") {
  const Outcome outcome = run(
      {.slots = std::vector<SlotScript>(5, slot(true)), .limits = {.data_size = 100, .steps = 3}});
  CHECK(outcome.totals.steps == 3);
  CHECK(outcome.votes.size() == 4);  // one before each slot, one for the last loss
  CHECK(outcome.measures.size() == 3);
  CHECK_FALSE(outcome.votes.back().stop);
}
