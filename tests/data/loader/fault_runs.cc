#include "fault_runs.h"

#include "catch.h"
#include "test_trainer.h"

namespace odb {

void run_with_faults(std::uint64_t seed, int workers, std::int64_t min_faults) {
  INFO("seed " << seed << ", " << workers << " workers");
  FakeData data{.size = min_faults * 7, .seed = seed, .delay_microseconds = 60};
  data.fates = {
      {11, FakeData::Fate::crashes}, {12, FakeData::Fate::crashes_once}, {40, FakeData::Fate::bad}};
  const BatchingOptions options = small_options(seed % 2 == 0 ? Layout::flat : Layout::padded);
  LoaderSetup setup = fake_loader(data, options);
  setup.workers = workers;
  DataProcesses processes({setup});
  Pipeline& pipeline = processes.pipeline(0);
  FaultMaker faults(seed, {&pipeline});
  pipeline.start(epoch_start(setup));
  const std::vector<Slot> slots = slots_to_end(pipeline, data, [&] { faults.strike(); });
  CHECK(faults.made() >= min_faults);
  CHECK(slots == pure_run(data, options, 1).front());
}

void run_ranks_with_faults(std::uint64_t seed, int world, std::int64_t views,
                           const TestRendezvous* place) {
  INFO("seed " << seed << ", " << world << " ranks");
  const FakeData data{.size = views, .seed = seed, .delay_microseconds = 60};
  BatchingOptions options = small_options(seed % 2 == 0 ? Layout::flat : Layout::padded);
  options.align = seed % 3 == 0 ? Align::paper : Align::balanced;
  Ranks ranks(data, options, world, place);
  FaultMaker faults(seed, ranks.pipelines());
  const auto slots = ranks.to_end([&] {
    faults.strike();
    if (faults.made() % 3 == 0) faults.strike(std::chrono::milliseconds(1));
  });
  CHECK(faults.made() > views / 30);
  CHECK(slots == pure_run(data, options, world));
}

Ranks::Ranks(const FakeData& data, const BatchingOptions& options, int world,
             const TestRendezvous* place, const std::function<void(LoaderSetup&)>& adjust)
    : data_(data), peers_("peers", world, max_numbers(options)) {
  const TestRendezvous memory{.membership =
                                  [this](int rank) {
                                    return [this, rank](const std::string& address) {
                                      return address == "here" ? peers_.membership(rank) : nullptr;
                                    };
                                  },
                              .host = [] { return std::string("here"); }};
  if (place == nullptr) place = &memory;
  for (int rank = 0; rank < world; ++rank) {
    LoaderSetup setup = fake_loader(data, options, rank, world);
    setup.workers = 1 + rank % 2;
    setup.membership = place->membership(rank);
    if (adjust) adjust(setup);
    processes_.emplace_back(std::vector<LoaderSetup>{setup});
    pipelines_.push_back(&processes_.back().pipeline(0));
  }
  const std::string address = place->host();
  for (Pipeline* pipeline : pipelines_) {
    PipelineStart start = epoch_start(pipeline->setup());
    start.store_address = address;
    pipeline->start(start);
  }
}

std::vector<std::vector<Slot>> Ranks::to_end(const std::function<void()>& between) {
  std::vector<std::vector<Slot>> slots(pipelines_.size());
  do {
    if (between) between();
    for (std::size_t rank = 0; rank < pipelines_.size(); ++rank)
      slots[rank].push_back(next_slot(*pipelines_[rank], data_));
  } while (slots.front().back().kind != SlotKind::end);
  return slots;
}

}  // namespace odb
