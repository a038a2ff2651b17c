// lives.jsonl: a line when a process life of a run starts, one more when it ends. A life without an
// end was killed. Written by rank 0.
#pragma once

#include <cstdint>
#include <string>

#include "train/output/json_lines.h"

namespace odb {

// Where a process runs.
struct HostInfo {
  std::string host;
  std::int64_t pid = 0;
  std::string job;  // SLURM_JOB_ID; empty: none

  friend bool operator==(const HostInfo&, const HostInfo&) = default;
};

HostInfo this_host();

struct LifeStart {
  std::int64_t life = 0;  // number of the life, from 0
  std::string time;       // UTC, 2026-11-29T15:25:36Z
  HostInfo host_info;
  std::int64_t restart_count = 0;  // SLURM_RESTART_COUNT or TORCHELASTIC_RESTART_COUNT, else 0
  std::int64_t world_size = 1;
  std::int64_t resumed_step = 0;  // 0: from the beginning
};

// This process now. `life` is the number of lives before it.
LifeStart this_life(std::int64_t life, std::int64_t world_size, std::int64_t resumed_step);

class LivesFile {
 public:
  LivesFile(FileSystem& files, const std::string& path);

  // Lives that began so far: the number of the next one.
  std::int64_t lives() const { return lives_; }
  // Both lines are durable when the call returns.
  void begin(const LifeStart& start);
  // `reason`: "done", "SIGTERM", "time limit", an error's message.
  void end(std::int64_t life, std::int64_t step, const std::string& reason, int exit_code);

 private:
  JsonLinesFile lines_;
  std::int64_t lives_ = 0;
};

}  // namespace odb
