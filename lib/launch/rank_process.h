// One rank that `launch` starts: a process of this binary in a process group of its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/failure.h"
#include "launch/listening_socket.h"
#include "launch/passed_signals.h"
#include "launch/rank_lines.h"

namespace odb {

// What all ranks of a launch are started with.
struct RankCommand {
  int ranks = 1;
  std::vector<std::string> arguments;  // after the binary's name: "train", "--data", ...
};

struct RankProcess {
  int number = 0;
  pid_t process = 0;  // 0: it has ended
  Descriptor log;     // its file, where it has one
  RankLines lines;    // of ranks from 1 on, where they have none
  Descriptor phase;   // what it reports of itself: base/launch_channel.h
  Descriptor final_error;
};

// Ranks find each other through the environment (train/session/launch_config.h); rank 0 inherits
// the socket `store`. All lines go to `log` or, if that is not open, to standard error. The rank
// dies with this process. FileError: no process or pipe can be created.
RankProcess start_rank(int number, const RankCommand& command, Descriptor log,
                       const ListeningSocket& store, const PassedSignals& signals);

// The phase that it reported last; empty: none.
std::string last_phase(const RankProcess& rank);
// What it reported when it ended, if anything; the message is also written to its log file. Call it
// once, after the rank has ended.
std::optional<Failure> final_error_of(RankProcess& rank);

}  // namespace odb
