// The device of a rank, and what it has.
#pragma once

#include <cstdint>
#include <string>

#include <torch/types.h>

namespace odb {

// `choice`: auto, cpu, cuda or cuda:N; auto is a GPU where there is one. Without a number the
// rank's place on its machine picks the GPU. UsageError: there is no such GPU, or this LibTorch has
// none.
torch::Device choose_device(const std::string& choice, int local_rank);

// What ranks compare (device_match.h): the name of the GPU, or "cpu". Starts CUDA.
std::string device_name(torch::Device device);

// Bytes free on the device for this process; 0: not known.
std::uint64_t free_memory(torch::Device device);

// The most bytes that this process has held there so far.
std::int64_t peak_memory(torch::Device device);

}  // namespace odb
