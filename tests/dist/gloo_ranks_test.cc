// Several ranks on one machine, each with data processes of its own, in step over real Gloo:
// processes of any rank are killed, stopped and crashed while the others wait for them.
#include "catch.h"
#include "fault_runs.h"
#include "gloo_rendezvous.h"
#include "trace.h"

namespace odb {
namespace {

void check_against_pure_run(const FakeData& data, const BatchingOptions& options, int world) {
  INFO(name(options.align) << ", " << world << " ranks, join " << options.join);
  const GlooRendezvous place(world);
  const auto slots = Ranks(data, options, world, place.get()).to_end();
  CHECK(slots == pure_run(data, options, world));
  TraceChecker checker(options, data.size, world);
  for (std::size_t rank = 0; rank < slots.size(); ++rank)
    for (const Slot& slot : slots[rank])
      checker.add(static_cast<int>(rank), slot);
  checker.finish(options.join);
  CHECK(checker.faults().empty());
}

}  // namespace

TEST_CASE("gloo ranks: equal slots on all ranks, as in the pure run, both rules, both ends") {
  const FakeData data{.size = 211};  // uneven shards
  for (const Align align : {Align::balanced, Align::paper}) {
    for (const int world : {1, 2, 3, 4}) {
      BatchingOptions options = small_options(world % 2 == 0 ? Layout::flat : Layout::padded);
      options.align = align;
      check_against_pure_run(data, options, world);
      options.join = false;
      check_against_pure_run(data, options, world);
    }
  }
}

TEST_CASE("gloo ranks: sixteen small ones") {
  check_against_pure_run({.size = 97}, small_options(), 16);
}

TEST_CASE("gloo ranks: a rank without data is idle") {
  check_against_pure_run({.size = 3}, small_options(), 4);
}

TEST_CASE("gloo ranks: faults on any process of any rank, two at once, during recovery") {
  for (const std::uint64_t seed : {11, 12}) {
    const GlooRendezvous place(3);
    run_ranks_with_faults(seed, 3, 400, place.get());
  }
}

}  // namespace odb
