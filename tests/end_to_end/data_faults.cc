#include "data_faults.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace odb {
namespace {

using std::chrono::milliseconds;

// More than all short rows take together, less than a slow one.
constexpr double kLongSampleSeconds = 0.04;
constexpr int kMaxPolls = 100;
constexpr milliseconds kBetweenLooks{5};

}  // namespace

DataFaults::DataFaults(TrainerRun& run, const RankTree& tree,
                       std::function<void(const std::string&)> note)
    : run_(run), tree_(tree), note_(std::move(note)) {}

std::optional<RankTree::Roles> DataFaults::settled() {
  return replaced({});
}

std::optional<RankTree::Roles> DataFaults::replaced(const std::vector<pid_t>& processes) {
  std::optional<RankTree::Roles> roles;
  const auto is_old = [&](pid_t process) { return std::ranges::count(processes, process) > 0; };
  holds_in_time([&] {
    roles = tree_.roles();
    if (roles && (is_old(roles->collate) || std::ranges::any_of(roles->workers, is_old)))
      roles.reset();
    return roles || run_.any_ended();
  });
  return roles;
}

void DataFaults::send(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes)
    ::kill(process, signal);
}

void DataFaults::pass_until(const std::function<bool()>& holds) {
  for (int look = 0; look < kMaxPolls && !run_.any_ended() && !holds(); ++look)
    std::this_thread::sleep_for(kBetweenLooks);
}

void DataFaults::kill_collate() {
  const auto roles = settled();
  if (!roles) return;
  note_(fmt::format("SIGKILL to collate {}", roles->collate));
  send({roles->collate}, SIGKILL);
  replaced({roles->collate});
}

void DataFaults::kill_worker(std::size_t index) {
  const auto roles = settled();
  if (!roles) return;
  const pid_t worker = roles->builders().at(index);
  note_(fmt::format("SIGKILL to worker {} ({})", index, worker));
  send({worker}, SIGKILL);
  replaced({worker});
}

void DataFaults::pause_collate(int milliseconds) {
  const auto roles = settled();
  if (!roles) return;
  note_(fmt::format("SIGSTOP to collate {} for {} ms", roles->collate, milliseconds));
  send({roles->collate}, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  send({roles->collate}, SIGCONT);
}

void DataFaults::hang_worker(std::size_t index, int times) {
  for (int time = 0; time < times; ++time) {
    const auto roles = settled();
    if (!roles) return;
    const pid_t worker = roles->builders().at(index);
    const double before = processor_seconds(worker);
    pass_until([&] { return processor_seconds(worker) >= before + kLongSampleSeconds; });
    note_(fmt::format("SIGSTOP to worker {} ({}) after {:.2f} s of its work", index, worker,
                      processor_seconds(worker) - before));
    send({worker}, SIGSTOP);
    replaced({worker});
  }
}

void DataFaults::take_memory(bool kill_collate) {
  auto roles = settled();
  if (!roles) return;
  note_(fmt::format("no memory for large samples{}", kill_collate ? "; SIGKILL to collate" : ""));
  tree_.limit_memory(true);
  send(roles->builders(), SIGKILL);
  roles = replaced(roles->builders());
  if (!roles || !kill_collate || roles->workers.empty()) return;
  // The workers, which are limited, wait until the new collate, which is not, has taken over.
  send(roles->workers, SIGSTOP);
  tree_.limit_memory(false);
  send({roles->collate}, SIGKILL);
  replaced({roles->collate});
  tree_.limit_memory(true);
  send(roles->workers, SIGCONT);
}

void DataFaults::give_memory() {
  tree_.limit_memory(false);
  note_("memory again");
  const auto roles = settled();
  if (!roles) return;
  send(roles->builders(), SIGKILL);  // limited ones among them
  replaced(roles->builders());
}

}  // namespace odb
