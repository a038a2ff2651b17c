#include "training_faults.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/rng.h"
#include "data_faults.h"
#include "held_thread.h"
#include "odd_rows.h"

namespace odb {
namespace {

class FaultyTraining {
 public:
  FaultyTraining(std::uint64_t seed, int world)
      : seed_(seed), world_(world), rng_(seed, RandomPurpose::tests, 0, world) {}

  RunVerdict run() {
    start();
    const std::uint64_t faults = 2 + rng_.below(5);
    for (std::uint64_t fault = 1; fault <= faults; ++fault) {
      const std::size_t step = run_.logged_steps() + 1 + rng_.below(10);
      holds_in_time([&] { return run_.logged_steps() >= step || run_.any_ended(); });
      if (run_.any_ended()) break;
      const int rank = draw(0, world_ - 1);
      if (fault == faults && seed_ % 4 == 0)
        end_run(rank);
      else
        strike(rank);
    }
    RunVerdict verdict = judge_run(run_, expected_);
    verdict.report =
        fmt::format("seed {}, {} ranks:{}\n{}{}", seed_, world_, options_, done_, verdict.report);
    return verdict;
  }

 private:
  int draw(int low, int high) {
    return low + static_cast<int>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void start() {
    // A collate that makes samples itself has Gloo's threads, too, which take more than the limit
    // on memory permits.
    workers_ = draw(world_ == 1 ? 0 : 1, 2);
    expected_.data_size = draw(90, 140) * (1 + world_);
    expected_.epochs = draw(1, 2);
    expected_.codes = {static_cast<int>(ExitCode::data)};
    const int rows = static_cast<int>(expected_.data_size);
    const auto row = [&] { return draw(0, rows - 1); };
    const OddRows odd{.large = {row(), row()}, .slow = {row()}};
    const std::string data = write_rows(run_, rows, odd);
    std::vector<std::string> arguments = {"--data-workers",  std::to_string(workers_),
                                          "--epochs",        std::to_string(expected_.epochs),
                                          "--depth",         std::to_string(draw(2, 4)),
                                          "--window",        std::to_string(draw(16, 128)),
                                          "--round-groups",  std::to_string(draw(4, 16)),
                                          "--l-max",         std::to_string(draw(64, 160)),
                                          "--align",         draw(0, 2) == 0 ? "paper" : "balanced",
                                          "--layout",        draw(0, 1) == 0 ? "flat" : "padded",
                                          "--seed",          std::to_string(draw(0, 1000)),
                                          "--timeout",       world_ == 1 ? "1s" : "2s",
                                          "--cutoff-len",    "64",
                                          "--on-bad-sample", "skip",
                                          "--console",       "off"};
    const int step = draw(0, 3);
    if (step == 1) arguments.insert(arguments.end(), {"--accumulate", "2"});
    if (step == 2)
      arguments.insert(arguments.end(), {"--global-batch-samples", std::to_string(draw(4, 24))});
    options_ = fmt::format(" {}, {} rows, large ones: {}, slow one: {}", fmt::join(arguments, " "),
                           rows, fmt::join(odd.large, " "), fmt::join(odd.slow, " "));
    arguments.insert(arguments.end(), {"--data", data});
    for (int rank = 0; rank < world_; ++rank)
      trees_.emplace_back(run_, rank, world_, workers_);
    run_.start(world_, arguments);
    begin_ = std::chrono::steady_clock::now();
  }

  void note(int rank, const std::string& text) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    done_ += fmt::format("  {:7.3f} s, step {}: rank {}: {}\n", passed.count(), run_.logged_steps(),
                         rank, text);
  }

  void strike(int rank) {
    const int kind = draw(0, 18);
    const RankTree& tree = trees_[static_cast<std::size_t>(rank)];
    std::optional<HeldThread> held;
    if (draw(0, 1) == 1) {
      held.emplace(tree.trainer());
      note(rank, held->held() ? "its trainer is held" : "its trainer could not be held");
    }
    DataFaults faults(run_, tree, [&](const std::string& text) { note(rank, text); });
    const auto worker = static_cast<std::size_t>(draw(0, std::max(workers_ - 1, 0)));
    const bool collate_too = draw(0, 3) > 0;
    const int times = draw(1, 2);
    if (kind < 3) {
      for (int time = 0; time < times; ++time)
        faults.kill_collate();
    } else if (kind < 6) {
      for (int time = 0; time < times; ++time)
        faults.kill_worker(worker);
    } else if (kind < 8) {
      faults.pause_collate(draw(1, 100));
    } else if (kind < 11 && !std::exchange(hung_, true)) {
      if (collate_too) faults.kill_collate();
      faults.hang_worker(worker, times);
    } else {
      starve(tree, faults, collate_too);
    }
    if (held) note(rank, "its trainer runs on");
  }

  void starve(const RankTree& tree, DataFaults& faults, bool kill_collate) {
    const std::size_t before = tree.left_out();
    faults.take_memory(kill_collate);
    faults.pass_until([&] { return tree.left_out() > before; });
    faults.give_memory();
  }

  void end_run(int rank) {
    const auto roles = trees_[static_cast<std::size_t>(rank)].roles();
    switch (seed_ / 4 % 3) {
      case 0:
        note(rank, "SIGTERM to the trainer");
        expected_.codes.insert(static_cast<int>(ExitCode::saved));
        return run_.send(rank, SIGTERM);
      case 1:
        note(rank, "SIGKILL to the trainer");
        expected_.codes.insert({static_cast<int>(ExitCode::peer_lost), -SIGKILL});
        return run_.send(rank, SIGKILL);
      default:
        if (!roles) return;
        note(rank, "SIGKILL to the fork server");
        expected_.codes.insert(
            {static_cast<int>(ExitCode::internal), static_cast<int>(ExitCode::peer_lost)});
        ::kill(roles->fork_server, SIGKILL);
    }
  }

  std::uint64_t seed_;
  int world_;
  int workers_ = 0;
  Rng rng_;
  TrainerRun run_;
  std::deque<RankTree> trees_;
  ExpectedRun expected_;
  std::string options_;
  std::string done_;
  // Once a run: a process that is taken for hung five times in a row, with nothing done in between,
  // ends the rank.
  bool hung_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace

RunVerdict train_with_faults(std::uint64_t seed, int world) {
  return FaultyTraining(seed, world).run();
}

}  // namespace odb
