#include "dist/sums.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/types.h>

#include "dist/peer_loss.h"
#include "dist/training_groups.h"

namespace odb {

std::vector<double> sum_over_ranks(TrainingGroups& groups, const std::vector<double>& values) {
  std::vector<torch::Tensor> tensors{torch::tensor(values, torch::kDouble)};
  as_peer_loss("adding up over the ranks", [&] { groups.control()->allreduce(tensors)->wait(); });
  const auto* sums = tensors[0].const_data_ptr<double>();
  return {sums, sums + values.size()};
}

std::vector<double> values_of_rank_0(TrainingGroups& groups, const std::vector<double>& values) {
  if (groups.world() == 1) return values;
  std::vector<torch::Tensor> tensors{torch::tensor(values, torch::kDouble)};
  as_peer_loss("handing out rank 0's numbers",
               [&] { groups.control()->broadcast(tensors)->wait(); });
  const auto* received = tensors[0].const_data_ptr<double>();
  return {received, received + values.size()};
}

void await_all_ranks(TrainingGroups& groups) {
  sum_over_ranks(groups, {0});
}

}  // namespace odb
