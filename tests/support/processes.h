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
  std::string command;  // its words, each with a zero byte behind it
};

// All that there are, zombies too, the lower numbers first.
std::vector<SeenProcess> all_processes();

// Those that are no zombies whose command line holds `mark`.
std::vector<SeenProcess> processes_with(const std::string& mark);

}  // namespace odb
