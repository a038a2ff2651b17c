// The process that forks the data processes of a rank, and forks them again when they die.
//
// It is forked off the trainer before that has threads or LibTorch, has one thread, and does
// nothing but wait for its children's ends and the trainer's word, so a fork of it is cheap and
// safe at any time. A new life of a child inherits tokenizer and index, and finds in shared memory
// where the old one stood. A child that shows no sign of life for the lane's timeout is killed.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/real_file_system.h"
#include "data/processes/child_process.h"
#include "data/processes/lane.h"
#include "data/processes/memory_kills.h"
#include "data/processes/silence.h"
#include "data/processes/wake_up.h"

namespace odb {

inline constexpr std::size_t kMostLanes = 4;

// A lane with what trainer and fork server tell each other about it.
struct Lane {
  explicit Lane(LaneSetup lane_setup) : setup(std::move(lane_setup)), memory(setup) {}

  LaneSetup setup;
  LaneMemory memory;
};

// Shared words; the trainer sends SIGUSR2 after it changed one.
struct ServerControl {
  struct LaneWords {
    std::atomic<std::uint32_t> wanted{0};   // by the trainer: its processes are to run
    std::atomic<std::uint32_t> running{0};  // by the fork server: they do
  };
  std::atomic<std::uint32_t> stop{0};  // by the trainer: end all and leave
  std::atomic<std::int64_t> beats{0};  // by the fork server: rises several times a second
  WakeUp changed;                      // `running` did
  std::array<LaneWords, kMostLanes> lanes;
};

class ForkServer {
 public:
  // In the forked process. All must outlive it.
  ForkServer(std::deque<Lane>& lanes, ServerControl& control);

  // Until the trainer asks for the end; then no child is left. What the process exits with. An
  // Error is noted in all lanes before it is thrown.
  int run();

 private:
  static constexpr int kCollate = -1;

  struct Child {
    std::size_t lane = 0;
    int worker = kCollate;
    pid_t process = 0;
    std::int64_t progress = 0;  // when it was forked
    int crashes = 0;            // in a row, without progress between
    int kills = 0;
    Silence silence;
    std::string hung;  // not empty: it was killed for its silence, the text says so
  };

  Lane& lane_of(const Child& child) { return lanes_[child.lane]; }
  std::string role(const Child& child) const;
  MakerState* maker_state(const Child& child);
  std::atomic<std::int32_t>& process_word(const Child& child);
  std::int64_t progress(const Child& child);
  std::int64_t signs_of_life(const Child& child);
  bool may_be_silent(const Child& child);

  void serve();
  void follow_wishes();
  void begin(std::size_t lane);
  void end(std::size_t lane);
  void fork(Child& child);
  void reap();
  void kill_silent();
  // Tells of the death and forks the child again; false: it has died too often, the lane ends.
  bool replace(Child& child, int wait_status);
  // The sample that the child is making, as text behind what became of the child; "" without one.
  std::string sample_of(const Child& child);
  // The sample that the dead child was making is noted as its suspect.
  void note_suspect(const Child& child, const Death& death);
  bool may_go_on(Child& child, const Death& death);

  std::deque<Lane>& lanes_;
  ServerControl& control_;
  RealFileSystem files_;
  MemoryKills memory_kills_;
  std::vector<Child> children_;
};

}  // namespace odb
