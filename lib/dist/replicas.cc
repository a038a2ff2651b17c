#include "dist/replicas.h"

#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "base/checksum.h"
#include "base/error.h"
#include "base/index.h"
#include "dist/peer_loss.h"
#include "dist/training_groups.h"

namespace odb {

void broadcast_from_first(TrainingGroups& groups, std::span<const torch::Tensor> tensors) {
  const torch::NoGradGuard no_grad;
  const auto group = groups.training();
  as_peer_loss("handing out rank 0's values", [&] {
    for (const torch::Tensor& tensor : tensors) {
      if (tensor.numel() == 0) continue;
      const torch::Tensor values = tensor.detach().contiguous();
      // As bytes: any dtype, any bits.
      std::vector<torch::Tensor> bytes{values.view({-1}).view(torch::kUInt8)};
      group->broadcast(bytes)->wait();
      if (!values.is_alias_of(tensor)) tensor.detach().copy_(values);
    }
  });
}

std::uint64_t fingerprint(std::span<const torch::Tensor> tensors) {
  ChecksumStream<std::uint64_t> checksum;
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor values = tensor.detach().cpu().contiguous();
    checksum.update({static_cast<const char*>(values.const_data_ptr()), values.nbytes()});
  }
  return checksum.value();
}

void check_replicas_equal(TrainingGroups& groups, std::span<const torch::Tensor> tensors,
                          const std::string& when) {
  const auto own = static_cast<std::int64_t>(fingerprint(tensors));
  std::vector<torch::Tensor> given{torch::tensor({own}, torch::kLong)};
  std::vector<std::vector<torch::Tensor>> all(1);
  for (int rank = 0; rank < groups.world(); ++rank)
    all[0].push_back(torch::empty({1}, torch::kLong));
  as_peer_loss("comparing replicas", [&] { groups.control()->allgather(all, given)->wait(); });
  const auto of_rank = [&](int rank) { return at(all[0], rank).item<std::int64_t>(); };
  std::vector<int> different;
  for (int rank = 1; rank < groups.world(); ++rank)
    if (of_rank(rank) != of_rank(0)) different.push_back(rank);
  if (different.empty()) return;
  throw InternalError(
      "{} the weights of rank{} {} differ from those of rank 0, which must be equal bit for bit; "
      "look for a hardware fault there, or for mixed machines: GPUs of another kind, another build "
      "of "
      "odb-trainer or LibTorch (odb-trainer doctor prints them); then resume from the last "
      "checkpoint",
      when, different.size() == 1 ? "" : "s", fmt::join(different, ", "));
}

}  // namespace odb
