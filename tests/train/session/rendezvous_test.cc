// A rank that fails while the others cannot notice a broken connection, as in a GPU collective that
// never ends: processes whose main threads block.
#include "train/session/rendezvous.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "catch.h"
#include "data/loader/processes/child_process.h"
#include "listening_port.h"
#include "temporary_folder.h"

namespace odb {
namespace {

constexpr int kWorld = 3;

// Meets the others; then the one that fails does, and the others' main threads are stuck.
int run_rank(int rank, int failing, const ListeningPort& socket, const std::string& errors) {
  const int file = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(file, STDERR_FILENO);
  start_log({.rank = rank, .role = "trainer"});
  LaunchConfig launch{.rank = rank, .world = kWorld, .store = {"127.0.0.1", socket.port}};
  if (rank == 0)
    launch.listening_socket = socket.descriptor;
  else
    ::close(socket.descriptor);  // else it listens on after rank 0's end
  ProcessEnd end;
  Rendezvous rendezvous(launch, std::chrono::seconds(20));
  rendezvous.start_heartbeat(end, [] { return "training"; }, {});
  if (rendezvous.store().add("here", 1) == kWorld) rendezvous.store().set("all-here", "yes");
  while (!rendezvous.store().wait_for("all-here", std::chrono::seconds(1))) {
  }
  if (rank != failing)
    for (;;)
      ::pause();
  const UsageError error("out of memory on cuda:{}", rank);
  rendezvous.publish_failure(error);
  rendezvous.await_cause(error);
  return static_cast<int>(error.code());
}

// Meets the other; then rank 0 stops itself, and rank 1 fails by itself once it is let go. Rank 1
// writes to `met` when it needs no answer of the store any more.
int run_beside_stopped(int rank, const ListeningPort& socket, const int met[2], int go) {
  start_log({.rank = rank, .role = "trainer"});
  LaunchConfig launch{.rank = rank, .world = 2, .store = {"127.0.0.1", socket.port}};
  if (rank == 0)
    launch.listening_socket = socket.descriptor;
  else
    ::close(socket.descriptor);
  ProcessEnd end;
  Rendezvous rendezvous(launch, std::chrono::seconds(5));
  rendezvous.start_heartbeat(end, [] { return "training"; }, {});
  if (rendezvous.store().add("here", 1) == 2) rendezvous.store().set("all-here", "yes");
  while (!rendezvous.store().wait_for("all-here", std::chrono::seconds(1))) {
  }
  char byte = 0;
  if (rank == 0) {
    (void)!::read(met[0], &byte, 1);
    ::raise(SIGSTOP);
    ::pause();
  }
  (void)!::write(met[1], "x", 1);
  (void)!::read(go, &byte, 1);
  const UsageError error("out of memory on cuda:1");
  rendezvous.publish_failure(error);
  rendezvous.await_cause(error);
  return static_cast<int>(error.code());
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("Ranks that are stuck when another fails by itself leave with its code and message") {
  for (const int failing : {0, 1}) {
    const TemporaryFolder folder;
    const ListeningPort socket;
    const auto errors_of = [&](int rank) { return folder / ("rank" + std::to_string(rank)); };
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < kWorld; ++rank)
      ranks.push_back(fork_child(
          "trainer", [&, rank] { return run_rank(rank, failing, socket, errors_of(rank)); }));
    ::close(socket.descriptor);  // else it listens on after rank 0's end
    for (int rank = 0; rank < kWorld; ++rank) {
      int status = 0;
      ::waitpid(ranks[static_cast<std::size_t>(rank)], &status, 0);
      INFO("rank " << failing << " fails, rank " << rank << ":\n" << content_of(errors_of(rank)));
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 2);
      if (rank == failing) continue;
      CHECK_THAT(content_of(errors_of(rank)),
                 Catch::Contains("rank " + std::to_string(failing) +
                                 " failed: out of memory on cuda:" + std::to_string(failing)));
      CHECK_THAT(content_of(errors_of(rank)), !Catch::Contains("lost"));
    }
  }
}

TEST_CASE("A rank that fails by itself while rank 0 is stopped ends with its own code") {
  const ListeningPort socket;
  int met[2];
  int go[2];
  REQUIRE(::pipe(met) == 0);
  REQUIRE(::pipe(go) == 0);
  pid_t ranks[2];
  for (int rank : {0, 1}) {
    ranks[rank] =
        fork_child("trainer", [&, rank] { return run_beside_stopped(rank, socket, met, go[0]); });
  }
  ::close(socket.descriptor);
  int status = 0;
  REQUIRE(::waitpid(ranks[0], &status, WUNTRACED) == ranks[0]);
  REQUIRE(WIFSTOPPED(status));
  REQUIRE(::write(go[1], "x", 1) == 1);
  REQUIRE(::waitpid(ranks[1], &status, 0) == ranks[1]);
  ::kill(ranks[0], SIGKILL);
  ::waitpid(ranks[0], nullptr, 0);
  for (const int end : {met[0], met[1], go[0], go[1]})
    ::close(end);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == static_cast<int>(ExitCode::usage));
}

}  // namespace odb
