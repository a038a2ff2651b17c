// Views that were good and turn bad between two lives of collate, like a row whose preprocessing no
// longer fits in memory: published slots do not change, no view comes twice or is lost.
#include <signal.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "catch.h"
#include "fault_runs.h"
#include "test_trainer.h"
#include "trace.h"

namespace odb {
namespace {

using Fate = FakeData::Fate;

// Depth 3: with nothing taken, three slots are published and collate waits to publish the fourth.
constexpr std::size_t kFirstUnpublished = 3;

std::vector<Slot> pure_slots(const FakeData& data) {
  return pure_run(data, small_options(), 1).front();
}

ViewId first_view(const Slot& slot) {
  return slot.group.rows.front().view;
}

void await_full(const Pipeline& pipeline) {
  await([&] { return pipeline.phase() == std::string("waiting for a free slot"); });
}

void kill_collate(const Pipeline& pipeline) {
  await([&] { return pipeline.collate_process() > 1; });  // the fork server notes it after the fork
  const pid_t process = pipeline.collate_process();
  ::kill(process, SIGKILL);
  await([&] { return pipeline.collate_process() != process; });
}

// How often each view was trained or left out.
std::map<ViewId, int> times(const std::vector<std::vector<Slot>>& ranks) {
  std::map<ViewId, int> count;
  for (const std::vector<Slot>& slots : ranks) {
    for (const Slot& slot : slots) {
      for (const Item& item : slot.group.rows)
        ++count[item.view];
      for (const LeftOut& row : slot.left_out)
        ++count[row.view];
    }
  }
  return count;
}

void check_each_view_once(const FakeData& data, const std::vector<std::vector<Slot>>& ranks) {
  const std::map<ViewId, int> count = times(ranks);
  CHECK(static_cast<std::int64_t>(count.size()) == data.size);
  for (const auto& [view, often] : count)
    CHECK(std::pair(view, often) == std::pair(view, 1));
}

// A view that was drawn with the first round and leaves in a later one.
ViewId view_that_waits(const std::vector<Slot>& slots) {
  const Permutation order(300, 5, 0);
  for (const Slot& slot : slots)
    for (const Item& item : slot.group.rows)
      for (std::int64_t place = 0; slot.round > 0 && place < 32; ++place)
        if (order(place) == item.view) return item.view;
  FAIL("no view of the first window waits");
  return 0;
}

struct Run {
  std::vector<Slot> slots;
  std::int64_t deaths = 0;
};

// The epoch, with collate killed once while the first round is published in part.
Run run_with_collate_killed(const FakeData& data) {
  LoaderSetup setup = fake_loader(data, small_options());
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  await_full(pipeline);
  kill_collate(pipeline);
  Run run{.slots = slots_to_end(pipeline, data)};
  run.deaths = pipeline.statistics().deaths;
  return run;
}

}  // namespace

TEST_CASE("turned bad: a view of a partly published round ends the run and is named") {
  FakeData data{.size = 300};
  const std::vector<Slot> slots = pure_slots(data);
  REQUIRE(slots[kFirstUnpublished].round == 0);
  const ViewId view = first_view(slots[kFirstUnpublished]);
  data.fates[view] = Fate::turns_bad;
  for (const int workers : {0, 2}) {
    INFO(workers << " workers");
    LoaderSetup setup = fake_loader(data, small_options());
    setup.workers = workers;
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    await_full(pipeline);
    kill_collate(pipeline);
    std::string message;
    std::vector<Slot> taken;
    try {
      for (;;)
        taken.push_back(next_slot(pipeline, data));
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::data);
      message = error.what();
    }
    CHECK(taken == std::vector<Slot>(slots.begin(), slots.begin() + kFirstUnpublished));
    CHECK_THAT(message,
               Catch::Contains(fmt::format("sample {} was good when its round was formed", view)) &&
                   Catch::Contains(fmt::format("fake.jsonl:{}", view + 1)) &&
                   Catch::Contains("3 times"));
  }
}

TEST_CASE("turned bad: a view that recovers at the third try changes nothing") {
  FakeData data{.size = 300};
  const std::vector<Slot> slots = pure_slots(data);
  data.fates[first_view(slots[kFirstUnpublished])] = Fate::turns_bad_twice;
  const Run run = run_with_collate_killed(data);
  CHECK(run.slots == slots);
  CHECK(run.deaths == 3);
}

TEST_CASE("turned bad: a view whose slot is published is not prepared again") {
  FakeData data{.size = 300};
  const std::vector<Slot> slots = pure_slots(data);
  data.fates[first_view(slots.front())] = Fate::turns_bad;
  const Run run = run_with_collate_killed(data);
  CHECK(run.slots == slots);
  CHECK(run.deaths == 1);
}

TEST_CASE("turned bad: a view that waits in the window is left out, and no other view is lost") {
  FakeData data{.size = 300};
  const std::vector<Slot> slots = pure_slots(data);
  const ViewId view = view_that_waits(slots);
  data.fates[view] = Fate::turns_bad;
  const std::vector<Slot> found = run_with_collate_killed(data).slots;
  const auto in_first_round = std::ranges::count(slots, 0, &Slot::round);
  CHECK(std::equal(slots.begin(), slots.begin() + in_first_round, found.begin()));
  check_each_view_once(data, {found});
  const LeftOut row{.view = view, .reason = LeftOutReason::crashed_worker};
  CHECK(std::ranges::any_of(found, [&](const Slot& slot) {
    return std::ranges::find(slot.left_out, row) != slot.left_out.end();
  }));
}

TEST_CASE("turned bad: ranks stay equal when a view of one of them waits and turns bad") {
  FakeData data{.size = 300};
  const BatchingOptions options = small_options();
  const auto pure = pure_run(data, options, 3);
  for (const std::size_t rank : {std::size_t{0}, std::size_t{2}}) {
    data.fates.clear();
    // Of the last slot of round 1: drawn in the first round or soon after.
    const auto of_round_1 = std::ranges::find(pure[rank], 1, &Slot::round);
    REQUIRE(of_round_1 != pure[rank].end());
    data.fates[first_view(*of_round_1)] = Fate::turns_bad;
    Ranks ranks(data, options, 3);
    await_full(*ranks.pipelines()[rank]);
    kill_collate(*ranks.pipelines()[rank]);
    const auto slots = ranks.to_end();
    check_each_view_once(data, slots);
    TraceChecker checker(options, data.size, 3);
    for (std::size_t index = 0; index < slots.size(); ++index)
      for (const Slot& slot : slots[index])
        checker.add(static_cast<int>(index), slot);
    checker.finish(true);
    CHECK(checker.faults().empty());
  }
}

}  // namespace odb
