// Replicas of one model on all ranks: made equal at the start, checked to be so later.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <torch/types.h>

namespace odb {

class TrainingGroups;

// All ranks get rank 0's values, in place. Collective; tensors of the same shapes and dtypes in the
// same order on all ranks, on the groups' device. Blocks without limit. PeerLostError.
void broadcast_from_first(TrainingGroups& groups, std::span<const torch::Tensor> tensors);

// 64-bit fingerprint of the values: XXH3 over the bytes of each tensor in order, rows first, as
// they lie in memory when contiguous. Copies tensors of other devices to the CPU, one at a time.
std::uint64_t fingerprint(std::span<const torch::Tensor> tensors);

// Checks that all ranks hold the same values, bit for bit. Collective over the control group: W
// numbers. `when` is for the message: "after step 120". InternalError, on all ranks, names the
// ranks that differ from rank 0. PeerLostError.
void check_replicas_equal(TrainingGroups& groups, std::span<const torch::Tensor> tensors,
                          const std::string& when);

}  // namespace odb
