// The options of a Gloo group, for any kind of message.
#pragma once

#include <chrono>
#include <string>

namespace odb {

struct GlooGroupOptions {
  std::string prefix;   // of its keys in the store; never used twice
  std::string network;  // interface ("eth0") or local address by which peers reach this process
  int rank = 0;
  int world = 1;
  // For a connection between two ranks that both connect; 0: 3 s and 10 ms for each rank.
  std::chrono::milliseconds connect_limit{0};
  int threads = 1;  // collectives that run at the same time
};

}  // namespace odb
