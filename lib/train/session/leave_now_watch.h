// Ends the process at a second Ctrl-C, whatever it waits for. A thread polls the stop flag.
#pragma once

#include <atomic>
#include <thread>

namespace odb {

class LeaveNowWatch {
 public:
  // Starts polling, ten times a second. At a second Ctrl-C, the process ends with
  // ExitCode::interrupted, without destructors.
  LeaveNowWatch();
  LeaveNowWatch(const LeaveNowWatch&) = delete;
  LeaveNowWatch& operator=(const LeaveNowWatch&) = delete;
  ~LeaveNowWatch();

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace odb
