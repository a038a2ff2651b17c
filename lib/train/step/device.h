// The device of a rank, and its memory.
#pragma once

#include <cstdint>
#include <string>

#include <torch/types.h>

namespace odb {

// `choice`: auto, cpu, cuda or cuda:N; auto is a GPU if there is one. Without a number, the rank's
// number on its machine selects the GPU. UsageError: there is no such GPU, or this LibTorch
// supports none.
torch::Device choose_device(const std::string& choice, int local_rank);

// The same refusal before any process of the run is forked: the GPUs are counted by a child
// process, because CUDA does not survive a fork. Nothing to do for auto and cpu. Blocks for as long
// as CUDA starts. The calling process must have a single thread.
void require_device(const std::string& choice, int local_rank);

// What ranks compare (device_match.h): the name of the GPU, or "cpu". Starts CUDA.
std::string device_name(torch::Device device);

// Bytes free on the device for this process; 0: not known.
std::uint64_t free_memory(torch::Device device);

// The maximum bytes that this process has held there so far.
std::int64_t peak_memory(torch::Device device);

}  // namespace odb
