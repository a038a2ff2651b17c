// The processes of this machine, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace odb {

struct SeenProcess {
  pid_t process = 0;
  char state = 0;  // 'Z': a zombie
  pid_t parent = 0;
  pid_t group = 0;
  std::string command;  // its arguments, each followed by a zero byte
};

// All processes, zombies too, sorted by number.
std::vector<SeenProcess> all_processes();

// The processes that are not zombies and whose command line contains `mark`.
std::vector<SeenProcess> processes_with(const std::string& mark);

}  // namespace odb
