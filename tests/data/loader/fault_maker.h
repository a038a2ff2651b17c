// Random faults on the data processes of running loaders.
#pragma once

#include <signal.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "data/loader/pipeline.h"

namespace odb {

// The same choices for the same seed; what each process is doing then depends on the machine.
class FaultMaker {
 public:
  FaultMaker(std::uint64_t seed, std::vector<Pipeline*> pipelines)
      : rng_(seed, RandomPurpose::tests), pipelines_(std::move(pipelines)) {}

  // One fault on one process, at a random moment within `most` from now.
  void strike(std::chrono::milliseconds most = std::chrono::milliseconds(3)) {
    sleep(most);
    Pipeline& pipeline = *pipelines_[rng_.below(pipelines_.size())];
    const auto workers = static_cast<std::uint64_t>(pipeline.setup().workers);
    const std::uint64_t target = rng_.below(workers + 1);
    const pid_t process = target == workers ? pipeline.collate_process()
                                            : pipeline.worker_process(static_cast<int>(target));
    ++made_;
    switch (rng_.below(4)) {
      case 0:
        send(process, SIGSEGV);
        break;
      case 1:
        send(process, SIGSTOP);
        sleep(most);
        send(process, SIGCONT);
        break;
      default:
        send(process, SIGKILL);
    }
  }
  int made() const { return made_; }

 private:
  static void send(pid_t process, int signal_number) {
    if (process > 1) ::kill(process, signal_number);  // it may have just ended
  }
  void sleep(std::chrono::milliseconds most) {
    const auto microseconds = static_cast<std::uint64_t>(most / std::chrono::microseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(rng_.below(microseconds)));
  }

  Rng rng_;
  std::vector<Pipeline*> pipelines_;
  int made_ = 0;
};

}  // namespace odb
