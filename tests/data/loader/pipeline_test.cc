// The pipeline without faults: its slots are those of the pure run, for any number of workers and
// any delays; every state continues it.
#include "data/loader/pipeline.h"

#include <signal.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "catch.h"
#include "test_trainer.h"
#include "trace.h"

namespace odb {
namespace {

std::vector<Slot> pure_slots(const FakeData& data, const BatchingOptions& options,
                             std::int64_t epoch = 0) {
  return pure_run(data, options, 1, epoch).front();
}

}  // namespace

TEST_CASE("pipeline: the slots are the same for 0 to 4 workers, and those of the pure run") {
  const FakeData data;
  for (const Layout layout : {Layout::flat, Layout::padded}) {
    const BatchingOptions options = small_options(layout);
    const std::vector<Slot> expected = pure_slots(data, options);
    CHECK(expected.size() > 20);
    for (int workers = 0; workers <= 4; ++workers) {
      INFO(name(layout) << ", " << workers << " workers");
      LoaderSetup setup = fake_loader(data, options);
      setup.workers = workers;
      const std::vector<Slot> slots = run_epoch(setup, data);
      CHECK(slots == expected);
      TraceChecker checker(options, data.size, 1);
      for (const Slot& slot : slots)
        checker.add(0, slot);
      checker.finish(true);
      CHECK(checker.faults().empty());
    }
  }
}

TEST_CASE("pipeline: random delays in workers change nothing") {
  FakeData data{.size = 200, .delay_microseconds = 3000};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  setup.workers = 3;
  CHECK(run_epoch(setup, data) == pure_slots(data, options));
}

TEST_CASE("pipeline: every strategy, and the end of an epoch at the first dry rank") {
  const FakeData data;
  for (const Strategy strategy : {Strategy::standard, Strategy::sorted, Strategy::bucket,
                                  Strategy::gmt, Strategy::bmt, Strategy::packing}) {
    BatchingOptions options = small_options();
    options.strategy = strategy;
    INFO(name(strategy));
    CHECK(run_epoch(fake_loader(data, options), data) == pure_slots(data, options));
  }
  BatchingOptions options = small_options();
  options.join = false;
  CHECK(run_epoch(fake_loader(data, options), data) == pure_slots(data, options));
}

TEST_CASE("pipeline: a wait ends with its slot, also if the slot is ready at once") {
  const FakeData data;
  const LoaderSetup setup = fake_loader(data, small_options());
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  CHECK_FALSE(pipeline.waiting());
  CHECK_FALSE(pipeline.next(std::chrono::milliseconds(0)));  // collate has not been started
  CHECK(pipeline.waiting());
  pipeline.start(epoch_start(setup));
  // Now all slots of the arena are ready.
  await([&] { return pipeline.phase() == std::string("waiting for a free slot"); });
  CHECK(pipeline.next(std::chrono::milliseconds(0)));
  CHECK_FALSE(pipeline.waiting());
}

TEST_CASE("pipeline: epochs follow one another, then nothing comes") {
  const FakeData data{.size = 100};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  setup.epochs = 3;
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    CHECK(slots_to_end(pipeline, data) == pure_slots(data, options, epoch));
  CHECK_FALSE(pipeline.next(std::chrono::milliseconds(200)));
  CHECK(std::string(pipeline.phase()) == "ended");
}

TEST_CASE("pipeline: every state continues its epoch, and then the next one") {
  const FakeData data{.size = 120};
  const BatchingOptions options = small_options();
  LoaderSetup setup = fake_loader(data, options);
  setup.epochs = 2;
  std::vector<Slot> expected = pure_slots(data, options, 0);
  const std::vector<Slot> second = pure_slots(data, options, 1);
  expected.insert(expected.end(), second.begin(), second.end());

  std::vector<DataState> states;
  {
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start(epoch_start(setup));
    states.push_back(pipeline.state());
    CHECK(states.back() == epoch_start(setup).state);
    for (const Slot& slot : expected) {
      const auto batch = pipeline.next(kPatience);
      REQUIRE(batch);
      states.push_back(pipeline.state());
      CHECK(checked_slot(*batch, data) == slot);
      pipeline.release();
    }
  }
  for (std::size_t taken = 0; taken < states.size(); ++taken) {
    INFO("after " << taken << " slots");
    // As a checkpoint saves it.
    const OwnedState saved =
        parse_state(serialize(OwnedState{.owner = {}, .state = states[taken]}), "state");
    DataProcesses processes({setup});
    Pipeline& pipeline = processes.pipeline(0);
    pipeline.start({.state = saved.state, .leftovers = nullptr, .store_address = ""});
    CHECK(pipeline.state() == states[taken]);
    bool equal = true;
    for (std::size_t i = taken; i < std::min(taken + 6, expected.size()); ++i) {
      const auto batch = pipeline.next(kPatience);
      REQUIRE(batch);
      equal =
          equal && checked_slot(*batch, data) == expected[i] && pipeline.state() == states[i + 1];
      pipeline.release();
    }
    CHECK(equal);
  }
}

TEST_CASE("pipeline: a state of other data is refused when its round differs") {
  const FakeData data;
  LoaderSetup setup = fake_loader(data, small_options());
  DataState state;
  {
    DataProcesses processes({setup});
    processes.pipeline(0).start(epoch_start(setup));
    processes.pipeline(0).next(kPatience);
    state = processes.pipeline(0).state();
  }
  const FakeData other{.seed = 2};
  LoaderSetup other_setup = fake_loader(other, small_options());
  DataProcesses processes({other_setup});
  processes.pipeline(0).start({.state = state, .leftovers = nullptr, .store_address = ""});
  CHECK_THROWS_WITH(processes.pipeline(0).next(kPatience), Catch::Contains("has changed since"));
}

TEST_CASE("pipeline: leftovers of another number of ranks are drawn, by any life of collate") {
  const FakeData data{.size = 400, .unsupervised_percent = 0};
  LoaderSetup setup = fake_loader(data, small_options());
  PipelineStart start = epoch_start(setup);
  std::vector<ViewId> list(300);
  std::iota(list.begin(), list.end(), 100);
  start.leftovers = std::make_shared<const std::vector<ViewId>>(list);
  start.state.start.sampler = {.leftover_begin = 20, .leftover_end = 270, .progressions = {}};
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(start);
  std::vector<ViewId> views;
  const auto kill_collate = [&] {
    if (pipeline.collate_process() > 1) ::kill(pipeline.collate_process(), SIGKILL);
  };
  for (const Slot& slot : slots_to_end(pipeline, data, kill_collate))
    for (const Item& item : slot.group.rows)
      views.push_back(item.view);
  std::sort(views.begin(), views.end());
  CHECK(views == std::vector<ViewId>(list.begin() + 20, list.begin() + 270));
}

TEST_CASE("pipeline: several slots may be held, and statistics add up") {
  const FakeData data{.size = 150};
  const BatchingOptions options = small_options(Layout::padded);
  LoaderSetup setup = fake_loader(data, options);
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  pipeline.start(epoch_start(setup));
  std::vector<BatchView> held;
  for (int i = 0; i < 3; ++i)
    held.push_back(*pipeline.next(kPatience));
  CHECK_FALSE(pipeline.next(std::chrono::milliseconds(50)));  // all three slots are held
  const std::vector<Slot> expected = pure_slots(data, options);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(checked_slot(held[i], data) == expected[i]);
    pipeline.release();
  }
  slots_to_end(pipeline, data);
  const PipelineStatistics found = pipeline.statistics();
  std::int64_t tokens = 0;
  std::int64_t samples = 0;
  std::int64_t positions = 0;
  std::int64_t left_out = 0;
  for (const Slot& slot : expected) {
    tokens += slot.group.sums.tokens;
    samples += slot.group.sums.rows;
    positions += cost_model(options).charged(slot.group.sums);
    left_out += static_cast<std::int64_t>(slot.left_out.size());
  }
  CHECK(found.tokens == tokens);
  CHECK(found.samples == samples);
  CHECK(found.padded_tokens == positions);
  CHECK(found.left_out == left_out);
  CHECK(found.samples + found.left_out == 150);
  CHECK(found.padding_fraction() == Approx(1 - double(tokens) / double(positions)));
  CHECK(found.deaths == 0);
  const std::vector<ProcessUse> uses = all_processes(processes, 4);
  CHECK(uses[0].role == "fork server");
  CHECK(uses[1].role == "collate");
  CHECK(uses[3].role == "worker 1");
  CHECK(uses[1].private_bytes > 0);
}

TEST_CASE("pipeline: a broken sample ends the run with its message and code, after earlier slots") {
  FakeData data{.size = 100};
  const BatchingOptions options = small_options();
  const std::vector<Slot> expected = pure_slots(data, options);
  const ViewId last = expected[expected.size() - 3].group.rows[0].view;
  data.fates[last] = FakeData::Fate::throws;
  for (const int workers : {0, 2}) {
    LoaderSetup setup = fake_loader(data, options);
    setup.workers = workers;
    DataProcesses processes({setup});
    processes.pipeline(0).start(epoch_start(setup));
    std::string message;
    int code = 0;
    try {
      slots_to_end(processes.pipeline(0), data);
    } catch (const Error& error) {
      message = error.what();
      code = static_cast<int>(error.code());
    }
    CHECK(code == 3);
    CHECK(message == fmt::format("fake.jsonl:{}: broken beyond repair", last + 1));
  }
}

TEST_CASE("pipeline: bad records are left out with their reason") {
  FakeData data{.size = 100};
  data.fates = {{3, FakeData::Fate::bad}, {50, FakeData::Fate::bad}};
  const BatchingOptions options = small_options();
  CHECK(run_epoch(fake_loader(data, options), data) == pure_slots(data, options));
}

TEST_CASE("pipeline: a sample that fits in no slot is an error that names the option to change") {
  const FakeData data{.size = 100};
  LoaderSetup setup = fake_loader(data, small_options());
  setup.rules.longest = 20;
  DataProcesses processes({setup});
  processes.pipeline(0).start(epoch_start(setup));
  CHECK_THROWS_WITH(slots_to_end(processes.pipeline(0), data), Catch::Contains("--cutoff-len"));
}

TEST_CASE("pipeline: too little memory is refused before anything runs") {
  LoaderSetup setup = fake_loader({}, small_options());
  setup.rules.longest = std::int64_t{1} << 40;
  CHECK_THROWS_AS(DataProcesses({setup}), UsageError);
}

TEST_CASE("evaluation: a loader on demand runs beside training, any number of times") {
  const FakeData data{.size = 150};
  const FakeData other{.size = 40, .seed = 9};
  const BatchingOptions options = small_options();
  LoaderSetup training = fake_loader(data, options);
  LoaderSetup evaluation = fake_loader(other, options);
  evaluation.name = "evaluation";
  evaluation.at_start = false;
  evaluation.workers = 1;
  DataProcesses processes({training, evaluation});
  Pipeline& train = processes.pipeline(0);
  train.start(epoch_start(training));
  std::vector<Slot> slots{next_slot(train, data)};
  for (int time = 0; time < 3; ++time) {
    processes.begin(1);
    Pipeline& evaluate = processes.pipeline(1);
    evaluate.start(epoch_start(evaluation));
    // The second one is stopped early.
    if (time == 1)
      next_slot(evaluate, other);
    else
      CHECK(slots_to_end(evaluate, other) == pure_slots(other, options));
    const pid_t collate = evaluate.collate_process();
    CHECK(is_alive(collate));
    processes.end(1);
    CHECK_FALSE(is_alive(collate));
    slots.push_back(next_slot(train, data));
  }
  const std::vector<Slot> rest = slots_to_end(train, data);
  slots.insert(slots.end(), rest.begin(), rest.end());
  CHECK(slots == pure_slots(data, options));
  CHECK(train.statistics().deaths == 0);
}

}  // namespace odb
