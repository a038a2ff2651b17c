#include "bench/loader_run.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "base/seconds_since.h"
#include "base/signals.h"
#include "bench/local_ranks.h"
#include "data/loader/processes/data_processes.h"
#include "data/loader/record_loader.h"
#ifdef ODB_WITH_LIBTORCH
#include "bench/local_store.h"
#include "dist/gloo_membership.h"
#include "dist/rank_heartbeat.h"
#endif

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// The next slot. Checks for a stop while it waits, and between two slots.
BatchView await_slot(Pipeline& pipeline) {
  for (;;) {
    throw_if_interrupted();
    if (const auto batch = pipeline.next(std::chrono::milliseconds(100))) return *batch;
  }
}

// Extends the checksum `sequence` by the parts of a slot that are equal on all ranks.
std::uint64_t with_slot(std::uint64_t sequence, const SlotHeader& header) {
  const SlotTotals& totals = header.totals;
  const std::array numbers{static_cast<std::int64_t>(sequence),
                           header.epoch,
                           header.number,
                           std::int64_t{header.last_of_step},
                           totals.supervised,
                           totals.tokens,
                           totals.samples,
                           totals.supervised_groups};
  return checksum64(bytes_of(std::span<const std::int64_t>(numbers)));
}

// Reads the epochs and releases every slot at once. Returns the checksum of all slots.
std::uint64_t drain(Pipeline& pipeline, const BenchLoaderOptions& options, std::int64_t epochs,
                    const std::function<void()>& on_first) {
  std::uint64_t sequence = 0;
  std::int64_t tokens = 0;  // of all ranks, so that all end at the same slot
  for (bool first = true;; first = false) {
    const BatchView batch = await_slot(pipeline);
    if (first) on_first();
    sequence = with_slot(sequence, batch.header);
    tokens += batch.header.totals.tokens;
    pipeline.release();
    const bool last = batch.header.kind == SlotKind::end && batch.header.epoch + 1 == epochs;
    if (last || (options.max_tokens && tokens >= *options.max_tokens)) return sequence;
  }
}

// Of rank 0; those of the other ranks differ only in the rank.
LoaderSetup first_loader(const BenchLoaderOptions& options, const SampleSource& source) {
  LoaderSetup setup = record_loader(source, resolve(options.batching, Layout::flat), options.loader,
                                    0, static_cast<int>(options.nproc));
  setup.timeout = options.timeout;
  setup.epochs = options.epochs.value_or(options.max_tokens ? std::int64_t{1} << 40 : 1);
  return setup;
}

// Reads the epochs on one rank whose data processes are started.
RankFigures run_rank(const BenchLoaderOptions& options, Pipeline& pipeline,
                     const std::string& store_address, Clock::time_point entry) {
  RankFigures figures;
  const auto begin = Clock::now();
  const LoaderSetup& setup = pipeline.setup();
  PipelineStart start{.store_address = store_address};
  start.state.start = start_of_epoch(setup.epoch(0), setup.shape.rank, setup.shape.world);
  pipeline.start(start);
  figures.sequence = drain(pipeline, options, setup.epochs,
                           [&] { figures.first_batch_seconds = seconds_since(entry); });
  figures.seconds = seconds_since(begin);
  figures.statistics = pipeline.statistics();
  return figures;
}

Measured measure_one(const BenchLoaderOptions& options, const SampleSource& source,
                     Clock::time_point entry) {
  const LoaderSetup setup = first_loader(options, source);
  const ScopedStopSignals signals;
  DataProcesses processes({setup});
  Measured measured{.shared_bytes = shared_bytes(setup),
                    .figures = run_rank(options, processes.pipeline(0), "", entry)};
  measured.processes = processes.use();
  return measured;
}

#ifdef ODB_WITH_LIBTORCH

struct SharedFigures {
  LocalRendezvous rendezvous;
  RankFigures ranks[kMaxLocalRanks];
};

// One of several ranks, in a process of its own. `setup` is rank 0's.
int run_one_of_several(const BenchLoaderOptions& options, LoaderSetup setup, int rank,
                       SharedFigures& shared, Clock::time_point entry) {
  const int world = setup.shape.world;
  setup.shape.rank = rank;
  setup.membership = membership_over_gloo({.prefix = "align/",
                                           .network = options.ranks.network,
                                           .rank = rank,
                                           .world = world,
                                           .connect_timeout = options.timeout});
  DataProcesses processes({setup});  // before LibTorch
  Pipeline& pipeline = processes.pipeline(0);
  const LocalStore store = open_local_store(shared.rendezvous, rank);
  const auto heartbeat = start_heartbeat(store.address, rank, world, options.timeout,
                                         [&pipeline] { return std::string(pipeline.phase()); });
  int code = 0;
  try {
    shared.ranks[rank] = run_rank(options, pipeline, to_text(store.address), entry);
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    // The heartbeat reports which rank is lost, and ends this process.
    if (error.code() == ExitCode::peer_lost) std::this_thread::sleep_for(2 * options.timeout);
    log("loader").error("{}", error.what());
  }
  // The ranks leave together: until here, a peer may need this rank's collate process, and rank 0's
  // store must live until no heartbeat uses it.
  shared.rendezvous.await_all(world, 1, 2 * options.timeout);
  processes.stop();
  heartbeat->leave();
  shared.rendezvous.await_all(world, 2, 2 * options.timeout);
  return code;
}

// Sums over the ranks; the longest times; what is equal on all is taken from one.
RankFigures over_ranks(std::span<const RankFigures> ranks) {
  RankFigures all = ranks.front();
  for (const RankFigures& rank : ranks.subspan(1)) {
    ODB_CHECK(rank.sequence == all.sequence && rank.statistics.slots == all.statistics.slots,
              "the ranks went through different slots: {} and {} of them", all.statistics.slots,
              rank.statistics.slots);
    all.seconds = std::max(all.seconds, rank.seconds);
    all.first_batch_seconds = std::max(all.first_batch_seconds, rank.first_batch_seconds);
    PipelineStatistics& sums = all.statistics;
    sums.groups += rank.statistics.groups;
    sums.idle_slots += rank.statistics.idle_slots;
    sums.samples += rank.statistics.samples;
    sums.tokens += rank.statistics.tokens;
    sums.padded_tokens += rank.statistics.padded_tokens;
    sums.supervised += rank.statistics.supervised;
    sums.left_out += rank.statistics.left_out;
    sums.wait_seconds = std::max(sums.wait_seconds, rank.statistics.wait_seconds);
    sums.deaths += rank.statistics.deaths;
    sums.aligning_seconds = std::min(sums.aligning_seconds, rank.statistics.aligning_seconds);
  }
  return all;
}

Measured measure_several(const BenchLoaderOptions& options, const SampleSource& source,
                         Clock::time_point entry) {
  // Created once: ranks inherit it. What no rank can do is refused here.
  const LoaderSetup loader = first_loader(options, source);
  (void)start_of_epoch(loader.epoch(0), 0, loader.shape.world);
  const SharedObject<SharedFigures> shared("ranks");
  run_local_ranks(loader.shape.world, 2 * options.timeout, [&](int rank) {
    return run_one_of_several(options, loader, rank, *shared, entry);
  });
  return {.ranks = options.nproc,
          .shared_bytes = shared_bytes(loader),
          .figures = over_ranks(std::span<const RankFigures>(shared->ranks)
                                    .first(static_cast<std::size_t>(options.nproc)))};
}

#endif

}  // namespace

Measured run_loader(const BenchLoaderOptions& options, const SampleSource& source,
                    std::chrono::steady_clock::time_point entry) {
  if (options.nproc == 1) return measure_one(options, source, entry);
#ifdef ODB_WITH_LIBTORCH
  return measure_several(options, source, entry);
#else
  throw UsageError("--nproc {}: this build has no LibTorch, which several ranks need",
                   options.nproc);
#endif
}

}  // namespace odb
