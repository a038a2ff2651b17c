#include "loader.h"

#include <fstream>
#include <string>
#include <thread>

#include "catch.h"

namespace odb {

PipelineStart epoch_start(const LaneSetup& setup, std::int64_t epoch) {
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

std::vector<Slot> run_epoch(const LaneSetup& setup, const FakeData& data) {
  DataProcesses processes({setup});
  processes.pipeline(0).start(epoch_start(setup));
  return slots_to_end(processes.pipeline(0), data);
}

std::vector<ProcessUse> all_processes(const DataProcesses& processes, std::size_t count) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<ProcessUse> found = processes.use();
  while (found.size() != count && std::chrono::steady_clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    found = processes.use();
  }
  REQUIRE(found.size() == count);
  return found;
}

bool is_alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.size() > name_end + 2 && stat[name_end + 2] != 'Z';
}

}  // namespace odb
