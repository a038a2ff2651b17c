// Several ranks on one machine, each with its own data processes, in lockstep over shared memory:
// collates of any rank are killed while the others wait for them.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "catch.h"
#include "data/loader/shared_peers.h"
#include "fault_runs.h"
#include "test_trainer.h"
#include "trace.h"

namespace odb {
TEST_CASE("ranks: equal slots on all ranks, as in the pure run, with both alignment rules") {
  const FakeData data{.size = 301};  // uneven shards
  for (const Align align : {Align::balanced, Align::paper}) {
    for (const int world : {2, 3, 4}) {
      BatchingOptions options = small_options();
      options.align = align;
      INFO(name(align) << ", " << world << " ranks");
      const auto slots = Ranks(data, options, world).to_end();
      CHECK(slots == pure_run(data, options, world));
      TraceChecker checker(options, data.size, world);
      for (std::size_t rank = 0; rank < slots.size(); ++rank)
        for (const Slot& slot : slots[rank])
          checker.add(static_cast<int>(rank), slot);
      checker.finish(true);
      CHECK(checker.faults().empty());
    }
  }
}

TEST_CASE("ranks: a rank without data is idle, and the epoch may end with the first dry one") {
  const FakeData tiny{.size = 3};
  const BatchingOptions options = small_options();
  CHECK(Ranks(tiny, options, 4).to_end() == pure_run(tiny, options, 4));
  const FakeData data{.size = 160};
  BatchingOptions dry = small_options();
  dry.join = false;
  CHECK(Ranks(data, dry, 3).to_end() == pure_run(data, dry, 3));
}

TEST_CASE("ranks: faults on any process of any rank before every slot") {
  for (const std::uint64_t seed : {1, 2, 3})
    run_ranks_with_faults(seed, 3, 500);
}

TEST_CASE("ranks: an error of one rank ends all ranks with the same code") {
  FakeData data{.size = 200};
  data.fates[77] = FakeData::Fate::throws;
  Ranks ranks(data, small_options(), 3);
  std::vector<std::string> texts;
  // In turns: a rank with full slots would prevent the others from reaching the bad sample.
  std::vector<Pipeline*> going = ranks.pipelines();
  while (!going.empty())
    std::erase_if(going, [&](Pipeline* pipeline) {
      try {
        next_slot(*pipeline, data);
        return false;
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::data);
        texts.emplace_back(error.what());
        return true;
      }
    });
  REQUIRE(texts.size() == 3);
  std::sort(texts.begin(), texts.end());
  CHECK(texts[0] == "fake.jsonl:78: broken beyond repair");
  CHECK_THAT(texts[1], Catch::Contains("ended the run with exit code 3"));
}

TEST_CASE("shared peers: the rules of generations hold between processes") {
  SharedPeers peers("peers", 2, 4);
  const auto mine = peers.membership(0);
  const auto fork_other = [&](auto&& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    return child;
  };
  const auto code_of = [](pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  using Values = std::vector<std::int64_t>;

  const pid_t other = fork_other([&] {
    const auto theirs = peers.membership(1);
    const auto group = theirs->join(0);
    const auto maxima = group->reduce(Reduction::max, {1, 9});
    const auto sums = group->reduce(Reduction::sum, {10});
    return maxima == Values{5, 9} && sums == Values{13} && group->rank() == 1;
  });
  const auto group = mine->join(0);
  REQUIRE(group);
  CHECK(group->world() == 2);
  CHECK(group->reduce(Reduction::max, {5, 2}) == Values{5, 9});
  CHECK(group->reduce(Reduction::sum, {3}) == Values{13});
  CHECK(code_of(other) == 0);

  // The other process has ended; its next life finds its generation used and advances it.
  const pid_t later = fork_other([&] {
    const auto theirs = peers.membership(1);
    if (!theirs->advance(0) || theirs->advance(0) || theirs->generation() != 1) return false;
    const auto next = theirs->join(1);
    return next && next->reduce(Reduction::sum, {1}) == Values{3};
  });
  CHECK_FALSE(group->reduce(Reduction::sum, {4}));
  CHECK(mine->generation() == 1);
  CHECK_FALSE(mine->join(0));
  const auto next = mine->join(1);
  REQUIRE(next);
  CHECK(next->reduce(Reduction::sum, {2}) == Values{3});
  CHECK(code_of(later) == 0);
  CHECK_THROWS_AS(mine->join(1), InternalError);
}

}  // namespace odb
