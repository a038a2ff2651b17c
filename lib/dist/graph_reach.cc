#include "dist/graph_reach.h"

#include <unordered_set>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

namespace odb {

std::vector<torch::Tensor> unreached_parameters(const torch::Tensor& loss,
                                                const std::vector<torch::Tensor>& parameters) {
  using torch::autograd::Node;
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> to_visit;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && reached.insert(node).second) to_visit.push_back(node);
  };
  visit(torch::autograd::impl::gradient_edge(loss).function.get());
  while (!to_visit.empty()) {
    const Node* node = to_visit.back();
    to_visit.pop_back();
    for (const auto& edge : node->next_edges())
      visit(edge.function.get());
  }
  std::vector<torch::Tensor> unreached;
  for (const torch::Tensor& parameter : parameters)
    if (!reached.contains(torch::autograd::impl::grad_accumulator(parameter).get()))
      unreached.push_back(parameter);
  return unreached;
}

}  // namespace odb
