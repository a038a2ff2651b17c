// Data processes that hang or are stopped forever: they are killed once they have shown no sign of
// life for the timeout, and only then; the slots stay those of the pure run.
#include "base/liveness_timer.h"

#include <signal.h>

#include <array>

#include "base/error.h"
#include "catch.h"
#include "fault_runs.h"
#include "test_trainer.h"

namespace odb {
namespace {

using Fate = FakeData::Fate;
using std::chrono::milliseconds;

// Short, because the tests wait for it; no test measures time.
constexpr milliseconds kTimeout{1000};

LoaderSetup short_loader(const FakeData& data, int workers = 2) {
  LoaderSetup setup = fake_loader(data, small_options());
  setup.workers = workers;
  setup.timeout = kTimeout;
  return setup;
}

std::vector<Slot> pure_slots(const FakeData& data) {
  return pure_run(data, small_options(), 1).front();
}

void append(std::vector<Slot>& slots, const std::vector<Slot>& more) {
  slots.insert(slots.end(), more.begin(), more.end());
}

void await_phase(const Pipeline& pipeline, const std::string& phase) {
  await([&] { return pipeline.phase() == phase; });
}

// The slots that come until collate waits for another rank.
std::vector<Slot> slots_until_waiting(Pipeline& pipeline, const FakeData& data) {
  std::vector<Slot> slots;
  await([&] {
    const auto batch = pipeline.next(milliseconds(50));
    if (batch) {
      slots.push_back(checked_slot(*batch, data));
      pipeline.release();
    }
    return !batch && (pipeline.phase() == std::string("aligning") ||
                      pipeline.phase() == std::string("joining the side group"));
  });
  return slots;
}

// Stops a worker until it is killed, twice: every process that was silent before has then been
// silent for longer than the timeout.
void outwait_timeout(const Pipeline& pipeline, int worker) {
  for (int time = 0; time < 2; ++time) {
    await([&] { return pipeline.worker_process(worker) > 1; });
    const pid_t process = pipeline.worker_process(worker);
    ::kill(process, SIGSTOP);
    await([&] { return pipeline.worker_process(worker) != process; });
  }
}

}  // namespace

TEST_CASE("silence: time in which a count does not change while its watcher polls") {
  struct Look {
    int at_milliseconds;
    std::int64_t count;
    int silent_milliseconds;
  };
  const std::array looks{Look{0, 7, 0},       Look{100, 7, 100},
                         Look{350, 7, 350},   Look{400, 8, 0},       // it lives
                         Look{900, 8, 500},   Look{1000, 3, 0},      // any other count does
                         Look{1900, 3, 900},  Look{91900, 3, 1900},  // the watcher slept
                         Look{92000, 3, 2000}};
  LivenessTimer timer;
  const LivenessTimer::Clock::time_point begin{};
  for (const Look& look : looks)
    CHECK(timer.update(look.count, begin + milliseconds(look.at_milliseconds)) ==
          milliseconds(look.silent_milliseconds));
  timer.reset();
  CHECK(timer.update(3, begin + milliseconds(92500)) == milliseconds(0));
  CHECK(timer.update(3, begin + milliseconds(92600)) == milliseconds(100));
}

TEST_CASE("silence: a sample that hangs or stops its process twice is bad, once is not") {
  FakeData data{.size = 100};
  const std::vector<Slot> sound = pure_slots(data);
  data.fates[sound[2].group.rows.front().view] = Fate::hangs;
  data.fates[sound[5].group.rows.front().view] = Fate::stops;
  data.fates[sound[8].group.rows.front().view] = Fate::stops_once;
  for (const int workers : {0, 2}) {
    INFO(workers << " workers");
    const LoaderSetup setup = short_loader(data, workers);
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    CHECK(slots_to_end(pipeline, data) == pure_slots(data));
    CHECK(pipeline.statistics().deaths >= 5);
  }
}

TEST_CASE("silence: such a sample ends the run with --on-bad-sample fail") {
  FakeData data{.size = 100};
  data.fates[17] = Fate::stops;
  LoaderSetup setup = short_loader(data, 1);
  setup.rules.skip_bad = false;
  const Ending failure = failure_of(setup, data);
  CHECK(failure.code == 3);
  CHECK_THAT(failure.text,
             Catch::StartsWith("fake.jsonl:18: this sample crashed or hung a data process"));
}

TEST_CASE("silence: a wait for storage is no fault of the sample, and ends the rank if it lasts") {
  FakeData data{.size = 100};
  const std::vector<Slot> sound = pure_slots(data);
  LoaderSetup setup = short_loader(data, 1);
  setup.timeout = std::chrono::seconds(2);
  setup.rules.skip_bad = false;
  const ViewId view = sound[2].group.rows.front().view;
  data.fates[view] = Fate::waits_in_kernel_once;
  setup.builder = fake_builder(data);
  {
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    CHECK(slots_to_end(pipeline, data) == sound);
    CHECK(pipeline.statistics().deaths == 0);
  }
  data.fates[view] = Fate::waits_in_kernel;
  setup.timeout = std::chrono::milliseconds(500);
  setup.builder = fake_builder(data);
  const Ending failure = failure_of(setup, data);
  CHECK(failure.code == 4);
  CHECK_THAT(failure.text, Catch::StartsWith("worker 0 (process ") &&
                               Catch::Contains(") has waited for storage for ") &&
                               Catch::Contains(fmt::format("sample {} of epoch 0", view)));
}

TEST_CASE("silence: a collate that is stopped forever is replaced in any phase") {
  const FakeData data{.size = 150};
  const LoaderSetup setup = short_loader(data);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  const auto stop_collate = [&] {
    await([&] { return pipeline.collate_process() > 1; });
    ::kill(pipeline.collate_process(), SIGSTOP);
  };
  await_phase(pipeline, "waiting for the start");
  stop_collate();
  pipeline.start(epoch_start(setup));
  std::vector<Slot> slots{next_slot(pipeline, data)};
  stop_collate();  // somewhere in its work
  for (int i = 0; i < 6; ++i)
    slots.push_back(next_slot(pipeline, data));
  await_phase(pipeline, "waiting for a free slot");
  stop_collate();
  append(slots, slots_to_end(pipeline, data));
  CHECK(slots == pure_slots(data));
  CHECK(pipeline.statistics().deaths >= 3);
}

TEST_CASE("silence: a wait for the start, a slot or a request is not silence") {
  const FakeData data{.size = 150};
  const LoaderSetup setup = short_loader(data);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  const std::vector<ProcessUse> uses = all_processes(processes, 4);
  const pid_t collate = uses[1].process;
  const pid_t idle_worker = uses[2].process;
  await_phase(pipeline, "waiting for the start");
  outwait_timeout(pipeline, 1);
  pipeline.start(epoch_start(setup));
  await_phase(pipeline, "waiting for a free slot");
  outwait_timeout(pipeline, 1);
  CHECK(pipeline.collate_process() == collate);
  CHECK(pipeline.worker_process(0) == idle_worker);
  CHECK(slots_to_end(pipeline, data) == pure_slots(data));
}

TEST_CASE("silence: a collate that waits for another rank is not killed unless it is stopped") {
  const FakeData data{.size = 200};
  const BatchingOptions options = small_options();
  Ranks ranks(data, options, 2, nullptr, [](LoaderSetup& setup) {
    if (setup.shape.rank == 0) setup.timeout = kTimeout;
  });
  Pipeline& first = *ranks.pipelines()[0];
  Pipeline& second = *ranks.pipelines()[1];
  std::vector<std::vector<Slot>> slots{{next_slot(first, data)}, {next_slot(second, data)}};
  ::kill(second.collate_process(), SIGSTOP);  // its rank's timeout is long
  append(slots[0], slots_until_waiting(first, data));
  const pid_t waiting = first.collate_process();
  outwait_timeout(first, 0);
  CHECK(first.collate_process() == waiting);
  ::kill(waiting, SIGSTOP);
  await([&] { return first.collate_process() != waiting; });
  ::kill(second.collate_process(), SIGCONT);

  // Takes as many slots from both ranks, because the second rank's collate has room for D only.
  while (slots[1].size() < slots[0].size())
    slots[1].push_back(next_slot(second, data));
  const std::vector<std::vector<Slot>> rest = ranks.to_end();
  append(slots[0], rest[0]);
  append(slots[1], rest[1]);
  CHECK(slots == pure_run(data, options, 2));
}

TEST_CASE("silence: a fork server that is stopped forever ends the rank") {
  const FakeData data{.size = 100};
  const LoaderSetup setup = short_loader(data);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  const std::vector<ProcessUse> uses = all_processes(processes, 4);
  ::kill(uses[0].process, SIGSTOP);
  ::kill(uses[1].process, SIGKILL);
  pipeline.start(epoch_start(setup));
  CHECK_THROWS_WITH(next_slot(pipeline, data),
                    Catch::Contains("fork server") && Catch::Contains("no sign of life"));
  CHECK(all_gone({uses[0].process, uses[2].process, uses[3].process}));
}

}  // namespace odb
