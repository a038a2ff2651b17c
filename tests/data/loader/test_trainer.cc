#include "test_trainer.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "catch.h"

namespace odb {
namespace {

bool holds_soon(const std::function<bool()>& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - begin > kPatience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

PipelineStart epoch_start(const LoaderSetup& setup, std::int64_t epoch) {
  PipelineStart start;
  start.state.start = start_of_epoch(setup.epoch(epoch), setup.shape.rank, setup.shape.world);
  return start;
}

Slot next_slot(Pipeline& pipeline, const FakeData& data) {
  const auto batch = pipeline.next(kPatience);
  REQUIRE(batch);
  Slot slot = checked_slot(*batch, data);
  pipeline.release();
  return slot;
}

std::vector<Slot> slots_to_end(Pipeline& pipeline, const FakeData& data,
                               const std::function<void()>& between) {
  std::vector<Slot> slots;
  do {
    if (between) between();
    slots.push_back(next_slot(pipeline, data));
  } while (slots.back().kind != SlotKind::end);
  return slots;
}

std::vector<Slot> run_epoch(const LoaderSetup& setup, const FakeData& data) {
  DataProcesses processes({setup});
  processes.pipeline(0).start(epoch_start(setup));
  return slots_to_end(processes.pipeline(0), data);
}

Ending failure_of(const LoaderSetup& setup, const FakeData& data) {
  try {
    run_epoch(setup, data);
  } catch (const Error& error) {
    return {.code = static_cast<int>(error.code()), .text = error.what()};
  }
  return {};
}

void await(const std::function<bool()>& condition) {
  REQUIRE(holds_soon(condition));
}

std::vector<ProcessUse> all_processes(const DataProcesses& processes, std::size_t count) {
  std::vector<ProcessUse> found;
  await([&] {
    found = processes.use();
    return found.size() == count;
  });
  return found;
}

bool is_alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.size() > name_end + 2 && stat[name_end + 2] != 'Z';
}

bool all_gone(const std::vector<pid_t>& processes) {
  return holds_soon([&] { return std::none_of(processes.begin(), processes.end(), is_alive); });
}

}  // namespace odb
