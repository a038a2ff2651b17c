#include "one_fault.h"

#include <signal.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/real_file_system.h"
#include "base/rng.h"

namespace odb {
namespace {

using std::chrono::milliseconds;

enum class Moment { start, step, evaluation, end };
enum class Target { launch, trainer, fork_server, data_process };
enum class Fault { kill, stop_for_good, stop_for_a_while, ask_to_stop };

constexpr const char* kMoments[] = {"in its start", "at a step", "in an evaluation", "at its end"};
constexpr const char* kTargets[] = {"launch", "a trainer", "a fork server", "a data process"};
constexpr const char* kFaults[] = {"killed", "stopped for good", "stopped for a while",
                                   "asked to stop"};

constexpr int code_of(ExitCode code) {
  return static_cast<int>(code);
}

class OneFault {
 public:
  explicit OneFault(std::uint64_t seed) : seed_(seed), rng_(seed, RandomPurpose::tests, 1) {}

  RunVerdict run() {
    start();
    await_moment();
    const pid_t process = choose_process();
    std::string done = "nothing: the run has ended";
    if (process != 0) {
      done = fmt::format("{} of rank {} {}: {} {}", kTargets[static_cast<int>(target_)], rank_,
                         kMoments[static_cast<int>(moment_)], kFaults[static_cast<int>(fault_)],
                         signal_);
      expect();
      strike(process);
    }
    RunVerdict verdict = judge_run(run_, expected_);
    verdict.report = fmt::format("seed {}: {} ranks{}, {}\n{}", seed_, world_,
                                 launched_ ? " by launch" : "", done, verdict.report);
    run_.await_nothing_left();
    return verdict;
  }

 private:
  int draw(int low, int high) {
    return low + static_cast<int>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void start() {
    world_ = draw(1, 3);
    launched_ = world_ > 1 && draw(0, 2) == 0;
    rank_ = draw(0, world_ - 1);
    moment_ = static_cast<Moment>(draw(0, 3));
    const int rows = 60 * (1 + world_);
    expected_.data_size = rows;
    const std::vector<std::string> arguments = {"--data",          run_.texts("a.jsonl", rows),
                                                "--eval-data",     run_.texts("e.jsonl", 40),
                                                "--eval-every",    "3 steps",
                                                "--data-workers",  std::to_string(draw(0, 2)),
                                                "--depth",         std::to_string(draw(2, 4)),
                                                "--l-max",         "128",
                                                "--cutoff-len",    "64",
                                                "--on-bad-sample", "skip",
                                                "--console",       "off",
                                                "--timeout",       "3s"};
    if (launched_)
      run_.launch(world_, arguments, {"--patience", "8s"});
    else
      run_.start(world_, arguments);
  }

  // The moment is drawn around what the files of the run show.
  void await_moment() {
    const std::size_t steps = 1 + rng_.below(12);
    if (moment_ == Moment::step)
      holds_in_time([&] { return run_.logged_steps() >= steps || run_.any_ended(); });
    if (moment_ == Moment::evaluation)
      holds_in_time([&] { return run_.logged_steps() >= 3 || run_.any_ended(); });
    if (moment_ == Moment::end) holds_in_time([&] { return saves() || run_.any_ended(); });
    std::this_thread::sleep_for(milliseconds(draw(0, moment_ == Moment::start ? 800 : 60)));
  }

  bool saves() {
    const std::string folder = run_.paths().checkpoints();
    return files_.is_folder(folder) && !files_.list(folder).empty();
  }

  // 0: it is gone already.
  pid_t choose_process() {
    const int kind = draw(0, 9);
    const int which = draw(0, 7);
    fault_ = static_cast<Fault>(draw(0, 3));
    signal_ = fault_ == Fault::kill          ? SIGKILL
              : fault_ != Fault::ask_to_stop ? SIGSTOP
              : draw(0, 1) == 0              ? SIGTERM
                                             : SIGUSR1;
    if (run_.any_ended()) return 0;
    if (launched_) {
      target_ = kind < 3 ? Target::launch : Target::trainer;
      return target_ == Target::launch ? run_.process(0) : run_.trainer(rank_);
    }
    target_ = kind < 5 ? Target::trainer : kind < 6 ? Target::fork_server : Target::data_process;
    if (target_ == Target::trainer) return run_.trainer(rank_);
    if (target_ == Target::fork_server) return run_.fork_server(rank_);
    const std::vector<pid_t> processes = run_.data_processes(rank_);
    return processes.empty() ? 0 : processes[static_cast<std::size_t>(which) % processes.size()];
  }

  // Beside 0, which a run that was about to end may still end with.
  void expect() {
    if (fault_ == Fault::stop_for_good && world_ == 1 && target_ == Target::trainer)
      fault_ = Fault::stop_for_a_while;  // nobody would notice
    if (fault_ == Fault::stop_for_good && target_ == Target::launch)
      fault_ = Fault::stop_for_a_while;
    auto& codes = expected_.codes;
    const bool is_trainer = target_ == Target::trainer || target_ == Target::launch;
    if (fault_ == Fault::ask_to_stop && is_trainer) {
      codes.insert(code_of(ExitCode::saved));
      // Before it has a handler it dies of the signal.
      if (moment_ == Moment::start)
        codes.insert({-signal_, 128 + signal_, code_of(ExitCode::peer_lost)});
    }
    if ((fault_ == Fault::kill || fault_ == Fault::stop_for_good) && is_trainer)
      codes.insert({-SIGKILL, 128 + SIGKILL, code_of(ExitCode::peer_lost)});
    if (target_ == Target::fork_server && (fault_ == Fault::kill || fault_ == Fault::stop_for_good))
      codes.insert({code_of(ExitCode::internal), code_of(ExitCode::peer_lost)});
  }

  void strike(pid_t process) {
    ::kill(process, signal_);
    if (fault_ == Fault::stop_for_a_while) {
      std::this_thread::sleep_for(milliseconds(draw(1, 1500)));
      ::kill(process, SIGCONT);
    }
    if (fault_ != Fault::stop_for_good || target_ != Target::trainer) return;
    holds_in_time([&] {  // launch itself kills what it has waited for in vain
      int left = 0;
      for (int rank = 0; rank < (launched_ ? 1 : world_); ++rank)
        left += run_.ended(rank) ? 0 : 1;
      return left <= (launched_ ? 0 : 1);
    });
    ::kill(process, SIGKILL);
  }

  std::uint64_t seed_;
  Rng rng_;
  RealFileSystem files_;
  TrainerRun run_;
  ExpectedRun expected_;
  int world_ = 1;
  bool launched_ = false;
  int rank_ = 0;
  int signal_ = 0;
  Moment moment_ = Moment::start;
  Target target_ = Target::trainer;
  Fault fault_ = Fault::kill;
};

}  // namespace

RunVerdict train_with_one_fault(std::uint64_t seed) {
  return OneFault(seed).run();
}

}  // namespace odb
