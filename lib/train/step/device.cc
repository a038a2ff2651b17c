#include "train/step/device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <ATen/DeviceAccelerator.h>
#include <torch/cuda.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/process_memory.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "dist/libtorch_facts.h"

namespace odb {

namespace {

// The number of the GPU among `count`.
std::int64_t gpu_index(const std::string& choice, int local_rank, std::int64_t count) {
  std::int64_t index = local_rank;
  if (const std::size_t colon = choice.find(':'); colon != std::string::npos)
    index = parse_integer<std::int64_t>(choice.substr(colon + 1)).value_or(-1);
  if (index < 0 || index >= count)
    throw UsageError(
        "--device {}: found {} GPUs, expected number {} (the rank's number on its machine, unless "
        "cuda:N names one); see odb-trainer doctor",
        choice, count, index);
  return index;
}

// By a child process, which ends without running what this one has to do at its end.
std::int64_t count_gpus_in_child() {
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    int count = 0;
    try {
      count = static_cast<int>(torch::cuda::device_count());
    } catch (const std::exception&) {
      count = 0;  // no driver
    }
    ::_exit(std::min(count, 255));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

torch::Device choose_device(const std::string& choice, int local_rank) {
  const auto count = static_cast<std::int64_t>(torch::cuda::device_count());
  if (choice == "cpu" || (choice == "auto" && count == 0)) return torch::Device(torch::kCPU);
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(gpu_index(choice, local_rank, count))};
}

void require_device(const std::string& choice, int local_rank) {
  if (choice == "cpu" || choice == "auto") return;
  (void)gpu_index(choice, local_rank, count_gpus_in_child());
}

std::string device_name(torch::Device device) {
  if (device.is_cpu()) return "cpu";
  const std::vector<std::string> names = gpu_names();
  const auto index = static_cast<std::size_t>(device.index());
  return index < names.size() ? names[index] : "unknown GPU";
}

std::uint64_t free_memory(torch::Device device) {
  if (device.is_cpu()) {
    RealFileSystem files;
    return usable_memory(read_memory(files));
  }
  return at::accelerator::getMemoryInfo(device.index()).first;
}

std::int64_t peak_memory(torch::Device device) {
  if (device.is_cpu()) return peak_memory_bytes();
  constexpr std::size_t kAll = 0;  // the total of all pools
  return at::accelerator::getDeviceStats(device.index()).allocated_bytes[kAll].peak;
}

}  // namespace odb
