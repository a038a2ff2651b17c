// A trainer for tests: takes slots from a loader and checks their content.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "data/loader/processes/data_processes.h"
#include "fake_data.h"

namespace odb {

// Longer than any wait takes on a busy machine; a test that reaches it has failed.
inline constexpr std::chrono::seconds kPatience{120};

// The start of an epoch for the loader's rank.
PipelineStart epoch_start(const LoaderSetup& setup, std::int64_t epoch = 0);

// The next slot, checked and released. Fails the test when none comes.
Slot next_slot(Pipeline& pipeline, const FakeData& data);

// Slots up to and including the epoch's end slot; `between` is called before each one is taken.
std::vector<Slot> slots_to_end(Pipeline& pipeline, const FakeData& data,
                               const std::function<void()>& between = {});

// A whole epoch of a new loader.
std::vector<Slot> run_epoch(const LoaderSetup& setup, const FakeData& data);

// What ends a new loader before its epoch has ended.
struct Ending {
  int code = 0;
  std::string text;
};
Ending failure_of(const LoaderSetup& setup, const FakeData& data);

// Waits until `condition` holds. Fails the test when it never does.
void await(const std::function<bool()>& condition);

// All processes, once there are `count` of them. Fails the test when there never are.
std::vector<ProcessUse> all_processes(const DataProcesses& processes, std::size_t count);

// Whether the process exists and is no zombie.
bool is_alive(pid_t process);
// Whether none of them is alive, now or soon.
bool all_gone(const std::vector<pid_t>& processes);

}  // namespace odb
