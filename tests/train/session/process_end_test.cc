// The end of a process whose main thread is stuck: which code, and that nothing holds it.
#include "train/session/process_end.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "base/error.h"
#include "base/log.h"
#include "catch.h"
#include "data/loader/processes/child_process.h"

namespace odb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNow{0};
constexpr std::chrono::hours kNever{24};

const Failure kOwn = DataError("chat.jsonl:7: found no object").failure();
const Failure kLoss = PeerLostError("rank 2 is lost").failure();
const Failure kCause = OtherRankFailed(ExitCode::files, "rank 2 failed: no space", 2).failure();

// The exit code of a process in which `act` is done and the main thread is stuck then.
int code_after(const std::function<void(ProcessEnd&)>& act) {
  const pid_t process = fork_child("trainer", [&]() -> int {
    ProcessEnd end;
    act(end);
    for (;;)
      ::pause();
  });
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

// From now on standard error is a pipe that is full and that nobody reads.
void fill_standard_error() {
  static int ends[2];
  (void)!::pipe(ends);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const std::string bytes(4096, 'x');
  while (::write(ends[1], bytes.data(), bytes.size()) > 0) {
  }
  while (::write(ends[1], "x", 1) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0);
  ::dup2(ends[1], STDERR_FILENO);
}

}  // namespace

TEST_CASE("A stuck process ends with the failure that explains the end best") {
  struct Row {
    const char* what;
    std::function<void(ProcessEnd&)> act;
    ExitCode code;
  };
  const Row rows[] = {
      {"a lost peer", [](ProcessEnd& end) { end.require(kLoss, kNow); }, ExitCode::peer_lost},
      {"the cause that another rank reported", [](ProcessEnd& end) { end.require(kCause, kNow); },
       ExitCode::files},
      {"an own failure, over its limit", [](ProcessEnd& end) { end.expect(kOwn, kNow); },
       ExitCode::data},
      {"an own failure before its limit, then a lost peer",
       [](ProcessEnd& end) {
         end.expect(kOwn, kNever);
         end.require(kLoss, kNow);
       },
       ExitCode::data},
      {"a broken connection, then the cause that another rank reported",
       [](ProcessEnd& end) {
         end.expect(kLoss, kNever);
         end.require(kCause, kNow);
       },
       ExitCode::files},
      {"a second loss changes nothing",
       [](ProcessEnd& end) {
         end.require(kCause, milliseconds(50));
         end.require(kLoss, kNow);
       },
       ExitCode::files}};
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(code_after(row.act) == static_cast<int>(row.code));
  }
}

TEST_CASE("A standard error that nobody reads does not hold a process that must end") {
  const int code = code_after([](ProcessEnd& end) {
    fill_standard_error();
    std::atomic<bool> started{false};
    std::thread([&] {  // holds the log's lock for ever
      started = true;
      log("step").warn("a line that nobody reads");
    })
        .detach();
    while (!started)
      std::this_thread::yield();
    end.require(kLoss, kNow);
    for (;;)
      ::pause();
  });
  CHECK(code == static_cast<int>(ExitCode::peer_lost));
}

TEST_CASE("A process whose main thread returns in time ends by that") {
  const pid_t process = fork_child("trainer", [] {
    ProcessEnd end;
    end.expect(kOwn, kNever);
    return 42;
  });
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  CHECK(WEXITSTATUS(status) == 42);
}

}  // namespace odb
