// Trainers as processes that vote and reduce for ever, one of which is killed or stopped. Each is
// in its own process with its own heartbeat; the parent hands the store's socket to rank 0.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/log.h"
#include "catch.h"
#include "data/loader/processes/child_process.h"
#include "data/loader/shared/shared_memory.h"
#include "dist/control.h"
#include "dist/peer_loss.h"
#include "dist/rank_heartbeat.h"
#include "listening_port.h"
#include "temporary_folder.h"
#include "texts.h"
#include "training_ranks.h"

using namespace odb;

namespace {

constexpr int kWorld = 4;
constexpr std::chrono::milliseconds kTimeout{5000};

struct Shared {
  std::atomic<std::int64_t> steps[kWorld];
  std::atomic<bool> peer_lost[kWorld];  // a PeerLostError came, and the groups have ended
};

// Steps without end: a vote, then the gradients of a net that is large enough for several buckets.
void train(TrainingGroups& groups, std::atomic<std::int64_t>& steps) {
  GroupControl control(groups);
  torch::Tensor weights = torch::zeros({400, 1000}, torch::kFloat).requires_grad_();
  torch::Tensor more = torch::zeros({400, 1000}, torch::kFloat).requires_grad_();
  GradientReducer reducer(groups, {weights, more});
  for (;; ++steps) {
    control.begin({.loss_sum = 1});
    require(control.await().loss_sum == kWorld, "all have voted");
    reducer.zero_gradients();
    if (groups.rank() == 1) {
      reducer.reduce_without_data();
      continue;
    }
    const torch::Tensor loss = (weights + more).sum();
    reducer.prepare(loss);
    as_peer_loss("averaging gradients", [&] { loss.backward(); });
  }
}

int run_rank(int rank, const ListeningPort& socket, Shared& shared, const std::string& errors) {
  const HostPort address{"127.0.0.1", socket.port};
  const int file = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(file, STDERR_FILENO);
  start_log({.rank = rank, .role = "trainer"});
  at::set_num_threads(1);
  std::optional<Store> store;
  if (rank == 0)
    store = Store::host(address, socket.descriptor);
  else
    ::close(socket.descriptor);  // else it listens on after rank 0's end
  if (!store) store = Store::connect(address, std::chrono::seconds(60));
  const auto heartbeat =
      start_heartbeat(address, rank, kWorld, kTimeout, [] { return "in a step"; });
  try {
    TrainingGroups groups(*store, {.prefix = "run/", .rank = rank, .world = kWorld});
    train(groups, shared.steps[rank]);
  } catch (const PeerLostError& error) {
    log("test").error("{}", error.what());
    shared.peer_lost[rank] = true;
  }
  std::this_thread::sleep_for(2 * kTimeout);  // the heartbeat names who is lost, and ends this
  return 70;
}

struct Outcome {
  int code[kWorld] = {};
  bool peer_lost[kWorld] = {};
  std::string errors[kWorld];
};

Outcome lose_rank(int victim, int signal) {
  const TemporaryFolder folder;
  const SharedObject<Shared> shared("trainers");
  const ListeningPort socket;
  std::vector<pid_t> ranks;
  const auto errors_of = [&](int rank) { return folder / ("rank" + std::to_string(rank)); };
  for (int rank = 0; rank < kWorld; ++rank)
    ranks.push_back(fork_child(
        "trainer", [&, rank] { return run_rank(rank, socket, *shared, errors_of(rank)); }));
  ::close(socket.descriptor);
  const auto pid_of = [&](int rank) { return ranks[static_cast<std::size_t>(rank)]; };
  int status = 0;
  for (int rank = 0; rank < kWorld; ++rank)
    while (shared->steps[rank] < 5 && ::waitpid(pid_of(rank), &status, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(pid_of(victim), signal);
  Outcome outcome;
  for (int rank = 0; rank < kWorld; ++rank) {
    if (rank == victim) continue;
    ::waitpid(pid_of(rank), &status, 0);
    outcome.code[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    outcome.peer_lost[rank] = shared->peer_lost[rank];
    outcome.errors[rank] = content_of(errors_of(rank));
  }
  ::kill(pid_of(victim), SIGKILL);
  ::waitpid(pid_of(victim), &status, 0);
  return outcome;
}

// Seconds of "no sign of life for 5.0 s" in `text`; 0: not found.
double silence_in(const std::string& text) {
  const std::string words = "no sign of life for ";
  const std::size_t at = text.find(words);
  return at == std::string::npos ? 0 : std::stod(text.substr(at + words.size()));
}

void check_outcome(int victim, int signal) {
  const Outcome outcome = lose_rank(victim, signal);
  for (int rank = 0; rank < kWorld; ++rank) {
    if (rank == victim) continue;
    INFO("rank " << rank << ", PeerLostError " << outcome.peer_lost[rank] << ":\n"
                 << outcome.errors[rank]);
    CHECK(outcome.code[rank] == 5);
    CHECK_THAT(outcome.errors[rank],
               Catch::Contains("rank " + std::to_string(victim) + " is lost"));
    CHECK(silence_in(outcome.errors[rank]) * 1000 < 2 * kTimeout.count());
    // An end is known at once, whichever learns it first: the trainer by a connection that broke,
    // or the heartbeat by the end of the process.
    if (signal == SIGKILL) CHECK(silence_in(outcome.errors[rank]) == 0);
    if (signal == SIGSTOP) CHECK(silence_in(outcome.errors[rank]) >= 5);
  }
}

}  // namespace

TEST_CASE("a trainer that is killed in a step: the others know it at once, end, and name it") {
  check_outcome(2, SIGKILL);
}

TEST_CASE("a trainer that is stopped in a step: the others name it after the timeout and end") {
  check_outcome(1, SIGSTOP);
}

TEST_CASE("the trainer that hosts the store is killed: the others end and name it") {
  check_outcome(0, SIGKILL);
}
