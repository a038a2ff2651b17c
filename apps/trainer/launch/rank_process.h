// One rank that `launch` starts: a process of this binary in a process group of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "listening_socket.h"
#include "passed_signals.h"
#include "rank_lines.h"

namespace odb {

// What all ranks of a launch are started with.
struct RankCommand {
  int ranks = 1;
  std::vector<std::string> words;  // behind the binary's name: "train", "--data", ...
};

struct RankProcess {
  int number = 0;
  pid_t process = 0;  // 0: it has ended
  Descriptor log;     // its file, where it has one
  RankLines lines;    // of ranks from 1 on, where they have none
  Descriptor phase;   // what it tells of itself: base/launch_channel.h
  Descriptor last_words;
};

// Ranks find each other through the environment (train/launch_place.h); rank 0 inherits the socket
// `store`. All lines go to `log`, or, where that is not open, to standard error. It dies with this
// process. FileError: no process or pipe is to be had.
RankProcess start_rank(int number, const RankCommand& command, Descriptor log,
                       const ListeningSocket& store, const PassedSignals& signals);

// The phase it told last; empty: it never did.
std::string told_phase(const RankProcess& rank);
// The message that it ended with, and writes it to its log file; empty: none. To be called once,
// when it has ended.
std::string take_last_words(RankProcess& rank);

}  // namespace odb
