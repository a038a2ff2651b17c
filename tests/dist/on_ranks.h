// Ranks as threads of the test's process.
#pragma once

#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace odb {

// Runs `body(rank)` for each rank on a thread of its own. Element r of the result: what rank r
// threw; empty: nothing.
template <typename Body>
std::vector<std::string> on_ranks(int world, Body body) {
  std::vector<std::string> faults(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  threads.reserve(faults.size());
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&faults, &body, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        faults[static_cast<std::size_t>(rank)] = error.what();
        std::cerr << "rank " << rank << ": " << error.what() << '\n';  // others may now wait for it
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  return faults;
}

// No rank threw.
inline std::vector<std::string> no_faults(int world) {
  return std::vector<std::string>(static_cast<std::size_t>(world));
}

}  // namespace odb
