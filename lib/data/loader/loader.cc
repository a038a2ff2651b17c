#include "data/loader/loader.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/machine.h"
#include "base/real_file_system.h"

namespace odb {
namespace {

// Rows that one refill may leave out; only used entries take memory.
constexpr std::int64_t kMaxLeftOut = 1 << 20;

ArenaShape arena_shape(const LoaderSetup& setup) {
  return {.slots = setup.depth,
          .padded_tokens = max_padded_tokens(setup.batching, setup.rules.longest),
          .left_out = std::min(setup.shape.data_size, kMaxLeftOut)};
}

std::uint64_t memory_of_machine() {
  RealFileSystem files;
  return usable_memory(read_memory(files));
}

// Checked before anything is mapped: too little memory would kill a process in the middle of a run.
const LoaderSetup& checked(const LoaderSetup& setup) {
  ODB_CHECK(setup.workers >= 0 && setup.workers <= kMaxWorkers, "{} workers", setup.workers);
  const std::uint64_t needed = shared_bytes(setup);
  const std::uint64_t there = memory_of_machine();
  if (there > 0 && needed > there)  // 0: unknown, as without /proc
    throw UsageError(
        "{} batches of up to {} tokens with padding and the rings of {} workers take up to {} of "
        "memory, {} "
        "is available; lower --depth, --l-max, --cutoff-len, --batch-size or --data-workers",
        setup.depth, arena_shape(setup).padded_tokens, setup.workers, format_bytes(needed),
        format_bytes(there));
  return setup;
}

}  // namespace

Epoch LoaderSetup::epoch(std::int64_t number) const {
  return make_epoch(batching, shape.seed, shape.data_size, number,
                    lengths ? lengths(number) : nullptr);
}

std::size_t shared_bytes(const LoaderSetup& setup) {
  return arena_shape(setup).worst_bytes() +
         static_cast<std::size_t>(setup.workers) *
             worker_ring_bytes(kRequestsPerWorker, setup.rules.longest);
}

LoaderMemory::LoaderMemory(const LoaderSetup& setup)
    : control(checked(setup).name + "-control"),
      arena(setup.name + "-arena", arena_shape(setup)),
      rounds(setup.name + "-rounds", setup.depth,
             max_round_bytes(setup.batching, setup.shape.data_size),
             max_refill_bytes(setup.batching, setup.shape.data_size, arena.shape().left_out)),
      start(setup.name + "-start",
            max_round_bytes(setup.batching, setup.shape.data_size) +
                2 * sizeof(ViewId) * static_cast<std::size_t>(setup.shape.data_size),
            setup.shape.data_size),
      single_rank(setup.name + "-peers", 1, max_numbers(setup.batching)) {
  for (int worker = 0; worker < setup.workers; ++worker)
    workers.emplace_back(fmt::format("{}-worker-{}", setup.name, worker), kRequestsPerWorker,
                         setup.rules.longest);
}

void LoaderMemory::clear() {
  control.clear();
  for (WorkerRings& rings : workers) {
    rings.requests.clear();
    rings.answers.clear();
  }
  arena.clear();
  rounds.clear();
  start.clear();
  single_rank.clear();
}

std::unique_ptr<Membership> LoaderMemory::membership(const LoaderSetup& setup,
                                                     const std::string& store_address) {
  return setup.membership ? setup.membership(store_address) : single_rank.membership(0);
}

}  // namespace odb
