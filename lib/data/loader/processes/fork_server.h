// The process that forks the data processes of a rank, and forks them again when they die.
//
// It is forked off the trainer before the trainer has threads or LibTorch. It has one thread and
// only waits for its children to end and for the trainer's requests, so a fork of it is cheap and
// safe at any time. A new life of a child inherits tokenizer and index, and finds in shared memory
// where the old one stopped. A child that shows no sign of life for the loader's timeout is killed.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/liveness_timer.h"
#include "base/real_file_system.h"
#include "data/loader/loader.h"
#include "data/loader/processes/child_process.h"
#include "data/loader/processes/memory_kills.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

inline constexpr std::size_t kMaxLoaders = 4;

// A loader: its setup and its shared memory.
struct Loader {
  explicit Loader(LoaderSetup loader_setup) : setup(std::move(loader_setup)), memory(setup) {}

  LoaderSetup setup;
  LoaderMemory memory;
};

// In shared memory. The trainer sends SIGUSR2 after it changed a value.
struct ServerControl {
  struct LoaderState {
    std::atomic<std::uint32_t> requested{0};  // by the trainer: its processes should run
    std::atomic<std::uint32_t> running{0};    // by the fork server: they run
  };
  std::atomic<std::uint32_t> stop{0};  // by the trainer: end all children and exit
  std::atomic<std::int64_t> beats{0};  // by the fork server: rises several times a second
  WakeUp changed;                      // wakes when `running` changed
  std::array<LoaderState, kMaxLoaders> loaders;
};

class ForkServer {
 public:
  // In the forked process. All must outlive it.
  ForkServer(std::deque<Loader>& loaders, ServerControl& control);

  // Runs until the trainer asks it to end; then no child is left. Returns the exit code. An Error
  // is written to the memory of all loaders before it is thrown.
  int run();

 private:
  static constexpr int kCollate = -1;

  struct Child {
    std::size_t loader = 0;
    int worker = kCollate;
    pid_t process = 0;
    std::int64_t progress = 0;  // when it was forked
    int crashes = 0;            // in a row, without progress between them
    int kills = 0;
    LivenessTimer liveness;
    std::string hung;  // not empty: it was killed because it was silent; the text for the log
    bool warned_of_storage = false;  // in its present silence
  };

  Loader& loader_of(const Child& child) { return loaders_[child.loader]; }
  std::string role(const Child& child) const;
  BuilderState* builder_state(const Child& child);
  std::atomic<std::int32_t>& process_of(const Child& child);
  std::int64_t progress(const Child& child);
  std::int64_t signs_of_life(const Child& child);
  bool may_be_silent(const Child& child);

  void serve();
  void apply_requests();
  void begin(std::size_t loader);
  void end(std::size_t loader);
  void fork(Child& child);
  void reap();
  void kill_hung();
  // Whether a silent child waits for storage, which a kill would not end, and for which its sample
  // is not to blame. FileError: it has waited too long.
  bool is_held_by_storage(Child& child, std::chrono::nanoseconds silent);
  // Logs the death and forks the child again; false: it has died too often, the loader ends.
  bool replace(Child& child, int wait_status);
  // Names the sample that the child is preparing, as a suffix for log lines; "" without one.
  std::string sample_of(const Child& child);
  // Records the sample that the dead child was preparing as its suspect.
  void note_suspect(const Child& child, const Death& death);
  bool may_go_on(Child& child, const Death& death);

  std::deque<Loader>& loaders_;
  ServerControl& control_;
  RealFileSystem files_;
  MemoryKills memory_kills_;
  std::vector<Child> children_;
};

}  // namespace odb
