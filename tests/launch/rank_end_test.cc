// Which rank's end is reported as the cause, with what message, and the exit code of the launch.
#include "launch/rank_end.h"

#include <signal.h>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

using Ends = std::vector<RankEnd>;

RankEnd left(int rank, int code) {
  return {.rank = rank, .code = code};
}
// It reported a failure of its own, or that it lost a peer.
RankEnd left(int rank, int code, const std::string& message) {
  return {
      .rank = rank, .code = code, .failure = Error(static_cast<ExitCode>(code), message).failure()};
}
// It reported that another rank failed.
RankEnd heard(int rank, int code, const std::string& message, int of = kUnknownRank) {
  return {.rank = rank,
          .code = code,
          .failure = OtherRankFailed(static_cast<ExitCode>(code), message, of).failure()};
}
RankEnd killed(int rank, int signal, const std::string& phase = "") {
  return {.rank = rank, .code = 5, .signal = signal, .phase = phase};
}
RankEnd killed_by_us(int rank) {
  return {.rank = rank, .code = 5, .signal = SIGKILL, .ours = true};
}

// The parts of a status as waitpid gives it.
int exited(int code) {
  return code << 8;
}

}  // namespace

TEST_CASE("a launch ends with the code of the cause, 75 when all ranks saved, else 0") {
  CHECK(launch_code({left(0, 0), left(1, 0)}) == 0);
  CHECK(launch_code({left(0, 75), left(1, 75)}) == 75);
  CHECK(launch_code({left(0, 75), left(1, 0)}) == 70);
  CHECK(launch_code({left(1, 3, "a.jsonl:61"), heard(0, 3, "rank 1 failed: a.jsonl:61", 1)}) == 3);
  CHECK(launch_code({killed(2, SIGSEGV), left(0, 5), killed_by_us(1)}) == 5);
  // The others lost rank 0, which hosted the store: that is no cause.
  CHECK(launch_code({left(1, 5, "the store does not answer"), left(0, 4, "no space")}) == 4);
  // Hit before it could handle the signal; the other was waited for in vain.
  CHECK(launch_code({classify_end(0, SIGTERM, {SIGTERM}, false), killed_by_us(1)}) == 75);
}

TEST_CASE("a rank killed by a signal is a lost peer, unless the launch passed the signal on") {
  CHECK(classify_end(1, exited(3), {}, false).code == 3);
  CHECK(classify_end(1, SIGKILL, {SIGTERM}, false).code == 5);
  CHECK(classify_end(1, SIGKILL, {SIGTERM}, false).signal == SIGKILL);
  CHECK(classify_end(1, SIGTERM, {SIGTERM}, false).code == 75);
}

TEST_CASE("once the launch kills ranks, only those that die of it count as killed by it") {
  CHECK(classify_end(1, SIGKILL, {}, true).ours);
  CHECK_FALSE(classify_end(1, SIGKILL, {}, false).ours);
  CHECK_FALSE(classify_end(1, SIGSEGV, {}, true).ours);
  CHECK_FALSE(classify_end(1, exited(3), {}, true).ours);
  // It saved at the last moment; the third did not.
  CHECK(launch_code({classify_end(0, SIGTERM, {SIGTERM}, false),
                     classify_end(1, exited(75), {SIGTERM}, true),
                     classify_end(2, SIGKILL, {SIGTERM}, true)}) == 75);
}

TEST_CASE("the cause is reported with the rank, how it ended, and why or in which phase") {
  CHECK(describe_cause({killed(2, SIGKILL, "training"), left(0, 5, "rank 2 is lost")}, 3) ==
        "rank 2 was killed by signal 9 (Killed); it was last training; the run ends with exit code "
        "5");
  CHECK(describe_cause({left(1, 3, "a.jsonl:61: found x")}, 3) ==
        "rank 1 ended with exit code 3: a.jsonl:61: found x");
  RankEnd said = left(1, 2, "the folder holds a run already");
  said.phase = "starting";
  CHECK(describe_cause({said}, 3) ==
        "rank 1 ended with exit code 2: the folder holds a run already");
  CHECK(describe_cause({left(1, 70), left(0, 0)}, 2) ==
        "rank 1 ended with exit code 70; its own lines may say why");
  CHECK(describe_cause({left(1, 2, "no model"), left(0, 2, "no model")}, 2) ==
        "all 2 ranks ended with exit code 2: no model");
  CHECK(describe_cause({left(0, 2, "no model")}, 1) == "rank 0 ended with exit code 2: no model");
}

TEST_CASE("a failure that ranks only learned from another rank is traced back to it") {
  // Rank 0 hosts the store and leaves last; rank 2 was killed for staying.
  const Ends ends = {heard(1, 4, "rank 0 failed: no space", 0), left(0, 4, "no space"),
                     killed_by_us(2)};
  CHECK(cause_of(ends)->rank == 0);
  CHECK(describe_other_failures(ends).empty());
}

TEST_CASE("a rank that knows of a failure, but not its reason, is not the cause") {
  const RankEnd first =
      heard(0, 3, "rank 2 ended the run with exit code 3; its own message says why", 2);
  const Ends ends = {first, left(2, 3, "a.jsonl:61: found x"),
                     heard(1, 3, "another rank cannot go on; its own message says why")};
  CHECK(cause_of(ends)->rank == 2);
  CHECK(describe_other_failures(ends).empty());
  // Rank 2 left without a message.
  CHECK(cause_of({first, killed_by_us(2)})->rank == 0);
}

TEST_CASE("of ranks that lost a peer, one is reported, and none if that peer's end is known") {
  const Ends hung = {left(0, 5, "rank 1 is lost: no sign of life for 4.0 s"),
                     left(2, 5, "rank 1 is lost: no sign of life for 4.1 s"), killed_by_us(1)};
  CHECK(cause_of(hung)->rank == 0);
  CHECK(describe_other_failures(hung).empty());
  const Ends known = {left(0, 5, "rank 1 is lost"), killed(1, SIGSEGV)};
  CHECK(cause_of(known)->rank == 1);
  CHECK(describe_other_failures(known).empty());
}

TEST_CASE("a failure of another kind is reported, too, one of the same kind is not") {
  const Ends ends = {left(1, 2, "17 GiB are free"), left(2, 2, "18 GiB are free"),
                     left(3, 4, "no space"), killed(0, SIGSEGV)};
  CHECK(cause_of(ends)->rank == 1);
  CHECK(describe_other_failures(ends) ==
        std::vector<std::string>{"rank 3 ended with exit code 4: no space",
                                 "rank 0 was killed by signal 11 (Segmentation fault)"});
}

TEST_CASE("without a failed rank there is no cause") {
  CHECK(cause_of({}) == nullptr);
  CHECK(cause_of({left(0, 0), left(1, 75), killed_by_us(2)}) == nullptr);
}
