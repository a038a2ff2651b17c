// Group "ranks": which process this is, how ranks meet and communicate, and what each computes on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/options/table.h"

namespace odb {

struct RankOptions {
  std::optional<std::int64_t> rank;  // these three: from the launcher's environment
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> local_rank;
  std::string rendezvous = "auto";  // auto, env, slurm, HOST:PORT
  std::chrono::milliseconds timeout{300000};
  std::string device = "auto";   // auto, cpu, cuda, cuda:N
  std::string backend = "auto";  // auto, gloo, nccl
  bool mixed_devices = false;    // ranks may train on GPUs of different kinds
  std::string network;           // this machine's name or address; empty: detected
  std::optional<std::int64_t> threads;
};

void describe(OptionTable& table, RankOptions& options);

}  // namespace odb
