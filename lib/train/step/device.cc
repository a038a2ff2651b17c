#include "train/step/device.h"

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

torch::Device choose_device(const std::string& choice, int local_rank) {
  const auto count = static_cast<std::int64_t>(torch::cuda::device_count());
  if (choice == "cpu" || (choice == "auto" && count == 0)) return torch::Device(torch::kCPU);
  std::int64_t index = local_rank;
  if (const std::size_t colon = choice.find(':'); colon != std::string::npos)
    index = parse_integer<std::int64_t>(choice.substr(colon + 1)).value_or(-1);
  if (index < 0 || index >= count)
    throw UsageError(
        "--device {}: found {} GPUs, expected number {} (the rank's number on its machine, unless "
        "cuda:N names one); see odb-trainer doctor",
        choice, count, index);
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
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
