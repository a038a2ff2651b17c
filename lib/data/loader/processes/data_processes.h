// All data processes of one rank, and the trainer's handles on them.
//
//   DataProcesses processes({train, evaluation});   before LibTorch and before any other thread
//   Pipeline& batches = processes.pipeline(0);
//   batches.start({.state = ...});                  when the start is known
//   while (auto batch = batches.next(100ms)) { ... batches.release(); }
//
// The fork server and, through it, all its children are killed when the thread that made this
// object ends, for any reason. Nothing else remains, because the shared memory has no name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "data/loader/pipeline.h"
#include "data/loader/processes/fork_server.h"
#include "data/loader/processes/process_use.h"

namespace odb {

class DataProcesses {
 public:
  // Maps the memory of all loaders and forks the fork server, which forks the processes of the
  // loaders with `at_start`. The calling process must have a single thread (checked), and the
  // calling thread must outlive this object. UsageError, FileError: not enough memory or processes.
  explicit DataProcesses(std::vector<LoaderSetup> setups);
  DataProcesses(const DataProcesses&) = delete;
  DataProcesses& operator=(const DataProcesses&) = delete;
  ~DataProcesses();  // as stop()

  // The handle on a loader, in the order of the setups.
  Pipeline& pipeline(std::size_t loader) { return pipelines_[loader]; }

  // For a loader that is not `at_start`: fork its processes, with cleared memory, or end them.
  // After each begin() the pipeline must be started again. Both block until done. InternalError:
  // not done within 10 seconds, or the fork server has died.
  void begin(std::size_t loader);
  void end(std::size_t loader);

  // Ends all processes and waits for their end. Never throws; a second call does nothing.
  void stop() noexcept;

  // Processor time and memory of every process that is alive, the fork server first.
  std::vector<ProcessUse> use() const;

 private:
  void request_state(std::size_t loader, bool should_run);

  SharedObject<ServerControl> control_;
  std::deque<Loader> loaders_;
  std::shared_ptr<ServerProcess> server_;
  std::deque<Pipeline> pipelines_;
};

}  // namespace odb
