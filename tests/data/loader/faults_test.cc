// The pipeline with faults: processes are killed, stopped and crashed at random moments, samples
// kill their process, parents vanish. The slots stay those of the pure run.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <thread>

#include <spdlog/sinks/ostream_sink.h>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "catch.h"
#include "data/loader/processes/child_process.h"
#include "fault_runs.h"
#include "test_trainer.h"

namespace odb {
namespace {

using Fate = FakeData::Fate;
using std::chrono::milliseconds;

std::vector<Slot> pure_slots(const FakeData& data, const BatchingOptions& options) {
  return pure_run(data, options, 1).front();
}

// Runs `body` in a forked process that acts as a trainer; returns its pid.
template <typename Body>
pid_t fork_trainer(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  return child;
}

}  // namespace

TEST_CASE("faults: two hundred in one epoch, on two workers, one, and none") {
  run_with_faults(1, 2, 200);
  run_with_faults(2, 1, 200);
  run_with_faults(3, 0, 200);
}

TEST_CASE("faults: a full arena, and faults during the recovery from a fault") {
  const FakeData data{.size = 200};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  FaultMaker faults(4, {&pipeline});
  pipeline.start(epoch_start(setup));
  std::vector<Slot> slots;
  do {
    // Once the arena is full, collate waits for a slot; then one fault after another.
    for (int i = 0; i < 5; ++i)
      faults.strike(milliseconds(i < 2 ? 5 : 1));
    slots.push_back(next_slot(pipeline, data));
  } while (slots.back().kind != SlotKind::end && slots.size() < 12);
  const std::vector<Slot> expected = pure_slots(data, options);
  CHECK(std::equal(slots.begin(), slots.end(), expected.begin()));
  CHECK(pipeline.statistics().deaths > 5);
}

TEST_CASE("faults: a sample that crashes its worker twice is left out and is in the state") {
  FakeData data{.size = 100};
  const BatchingOptions options = small_options();
  const std::vector<Slot> sound = pure_slots(data, options);
  const ViewId poison = sound[4].group.rows.front().view;
  data.fates[poison] = Fate::crashes;
  for (const int workers : {0, 1, 3}) {
    LoaderSetup setup = fake_loader(data, options);
    setup.workers = workers;
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    const LeftOut row{.view = poison, .reason = LeftOutReason::crashed_worker};
    std::vector<Slot> slots;
    bool was_known = true;
    do {
      const auto batch = pipeline.next(kPatience);
      REQUIRE(batch);
      slots.push_back(checked_slot(*batch, data));
      const DataState state = pipeline.state();
      if (std::find(batch->left_out.begin(), batch->left_out.end(), row) != batch->left_out.end())
        was_known = state.start.known_bad == std::vector<LeftOut>{row};
      pipeline.release();
    } while (slots.back().kind != SlotKind::end);
    CHECK(was_known);
    CHECK(slots == pure_slots(data, options));
    CHECK(pipeline.statistics().deaths == 2);
  }
}

TEST_CASE("faults: such a sample ends the run with --on-bad-sample fail") {
  FakeData data{.size = 100};
  data.fates[17] = Fate::crashes;
  LoaderSetup setup = fake_loader(data, small_options());
  setup.rules.skip_bad = false;
  const Ending failure = failure_of(setup, data);
  CHECK(failure.code == 3);
  CHECK(failure.text ==
        "fake.jsonl:18: this sample crashed or hung a data process 2 times (--on-bad-sample "
        "skip leaves such rows out)");
}

TEST_CASE("faults: a sample that crashes once is tried again and trained") {
  FakeData data{.size = 100};
  data.fates = {{17, Fate::crashes_once}, {60, Fate::crashes_once}};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  CHECK(run_epoch(setup, data) == pure_slots(data, options));
}

TEST_CASE("faults: out of memory is distinguished from a crash, and treated like one") {
  FakeData data{.size = 100};
  data.fates[17] = Fate::out_of_memory;
  const BatchingOptions options = small_options();
  CHECK(run_epoch(fake_loader(data, options), data) == pure_slots(data, options));

  using Kind = DeathKind;
  const auto exited = [](int code) { return code << 8; };
  struct Case {
    int status;
    bool memory_kill;
    Kind kind;
    const char* text;
  };
  const std::array cases{
      Case{SIGKILL, true, Kind::out_of_memory, "was killed by the kernel because memory ran out"},
      Case{SIGKILL, false, Kind::killed, "died by SIGKILL"},
      Case{SIGSEGV, true, Kind::crashed, "died by SIGSEGV"},
      Case{SIGHUP, false, Kind::killed, "died by SIGHUP"},
      Case{exited(kOutOfMemoryExit), false, Kind::out_of_memory, "ran out of memory"},
      Case{exited(kSentSignalExit + SIGSEGV), false, Kind::killed,
           "was sent SIGSEGV by another process"},
      Case{exited(70), false, Kind::crashed, "exited with code 70"},
      Case{exited(0), false, Kind::crashed, "exited with code 0"}};
  for (const Case& one : cases) {
    const Death death = classify_death(one.status, one.memory_kill);
    CHECK(death.kind == one.kind);
    CHECK(death.text == one.text);
  }
}

TEST_CASE("faults: a process that dies repeatedly ends the rank instead of forking forever") {
  const FakeData data{.size = 100};
  LoaderSetup setup = fake_loader(data, small_options());
  setup.builder = []() -> std::unique_ptr<ViewBuilder> { ::abort(); };
  const Ending failure = failure_of(setup, data);
  CHECK(failure.code == 70);
  CHECK_THAT(failure.text, Catch::Contains("died 5 times") && Catch::Contains("SIGABRT"));
}

TEST_CASE("faults: the end of the fork server ends the rank") {
  const FakeData data{.size = 1000};
  LoaderSetup setup = fake_loader(data, small_options());
  setup.epochs = 1000;
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  next_slot(pipeline, data);
  const std::vector<ProcessUse> uses = all_processes(processes, 4);
  ::kill(uses[0].process, SIGKILL);
  const auto take_all = [&] {
    for (;;)
      next_slot(pipeline, data);
  };
  CHECK_THROWS_WITH(take_all(),
                    Catch::Contains("fork server") && Catch::Contains("died by SIGKILL"));
  CHECK(all_gone({uses[1].process, uses[2].process, uses[3].process}));
}

TEST_CASE("faults: nothing survives a trainer that is killed") {
  const FakeData data{.size = 100};
  const LoaderSetup setup = fake_loader(data, small_options());
  SharedObject<std::array<std::atomic<pid_t>, 4>> children("children");
  SharedObject<std::atomic<std::uint32_t>> ready("ready");
  const pid_t trainer = fork_trainer([&] {
    DataProcesses processes({setup});
    processes.pipeline(0).start(epoch_start(setup));
    processes.pipeline(0).next(kPatience);
    const std::vector<ProcessUse> uses = all_processes(processes, 4);
    for (std::size_t i = 0; i < uses.size(); ++i)
      (*children)[i] = uses[i].process;
    *ready = static_cast<std::uint32_t>(uses.size());
    ::pause();
  });
  await([&] { return *ready != 0; });
  REQUIRE(*ready == 4);
  std::vector<pid_t> processes;
  for (const std::atomic<pid_t>& child : *children)
    processes.push_back(child);
  for (const pid_t process : processes)
    CHECK(is_alive(process));
  ::kill(trainer, SIGKILL);
  REQUIRE(::waitpid(trainer, nullptr, 0) == trainer);
  CHECK(all_gone(processes));
}

TEST_CASE("faults: data processes leave stop signals to the trainer") {
  const FakeData data{.size = 100};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  std::vector<Slot> slots{next_slot(pipeline, data)};
  for (const ProcessUse& use : all_processes(processes, 4))
    for (const int signal_number : kStopSignals)
      ::kill(use.process, signal_number);
  const std::vector<Slot> rest = slots_to_end(pipeline, data);
  slots.insert(slots.end(), rest.begin(), rest.end());
  CHECK(slots == pure_slots(data, options));
  CHECK(pipeline.statistics().deaths == 0);
}

TEST_CASE("faults: a fork that the system refuses is tried again") {
  const pid_t process = fork_trainer([] {
    rlimit limit = {.rlim_cur = 1, .rlim_max = 100};
    ::setrlimit(RLIMIT_NPROC, &limit);
    if (::getuid() == 0 && ::setuid(54322) != 0) ::_exit(98);  // the limit does not hold for root
    int tries = 0;
    const auto later = [&] {
      if (++tries < 3) return true;
      limit.rlim_cur = 100;
      return ::setrlimit(RLIMIT_NPROC, &limit) == 0;
    };
    int status = 0;
    const pid_t child = fork_child("worker", [] { return 7; }, later);
    if (::waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7 || tries != 3) ::_exit(1);
    limit.rlim_cur = 1;
    ::setrlimit(RLIMIT_NPROC, &limit);
    try {
      fork_child("worker", [] { return 7; }, [&] { return ++tries < 5; });
    } catch (const FileError&) {
      ::_exit(tries == 5 ? 0 : 2);
    }
    ::_exit(3);
  });
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  CHECK(WEXITSTATUS(status) == 0);
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("faults: a process that has other threads is warned, and works") {
  std::atomic<bool> end{false};
  std::thread other([&] { end.wait(false); });
  std::ostringstream lines;
  set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  const FakeData data{.size = 40};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  DataProcesses processes({setup});
  set_log_sink(standard_error_sink());
  CHECK_THAT(lines.str(), Catch::Contains("found 2 threads before the data processes are forked"));
  processes.pipeline(0).start(epoch_start(setup));
  CHECK(slots_to_end(processes.pipeline(0), data) == pure_slots(data, options));
  end = true;
  end.notify_all();
  other.join();
}
#endif

}  // namespace odb
