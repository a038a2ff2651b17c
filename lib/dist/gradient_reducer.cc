#include "dist/gradient_reducer.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/ops/_foreach_zero.h>
#include <torch/autograd.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "base/error.h"
#include "dist/graph_reach.h"
#include "dist/peer_loss.h"
#include "dist/training_groups.h"

namespace odb {
namespace {

constexpr const char* kWhat = "averaging gradients";

// The first bucket is small, so that reducing starts early.
constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20;

std::shared_ptr<c10d::Reducer> make_reducer(TrainingGroups& groups,
                                            const std::vector<torch::Tensor>& parameters,
                                            std::int64_t bucket_bytes) {
  const std::int64_t first = std::min(kFirstBucketBytes, bucket_bytes);
  const std::vector<bool> sparse(parameters.size(), false);
  auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
      parameters, {static_cast<std::size_t>(first), static_cast<std::size_t>(bucket_bytes)},
      sparse);
  std::reverse(buckets.begin(), buckets.end());
  constexpr bool kFindUnused = false;  // prepare() does it, and leaves the buckets as they are
  constexpr bool kGradientsAreViews = true;
  return std::make_shared<c10d::Reducer>(parameters, std::move(buckets), groups.training(), sparse,
                                         bucket_bytes, kFindUnused, kGradientsAreViews,
                                         std::unordered_map<std::size_t, std::string>{}, first,
                                         false, false, std::vector<std::int64_t>{});
}

}  // namespace

struct GradientReducer::Parts {
  std::vector<torch::Tensor> parameters;
  std::vector<torch::Tensor> zeros;  // one number each, expanded to the parameter's shape
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;  // the reducer holds it weakly, but needs it

  void expect_backward() {
    reducer->prepare_for_forward();
    reducer->prepare_for_backward({});
  }

  // One at a time, the last parameter first: nearly the order of a real backward pass. It becomes
  // the order of the buckets.
  void fix_buckets() {
    expect_backward();
    for (std::size_t i = parameters.size(); i-- > 0;)
      torch::autograd::backward({parameters[i]}, {zeros[i]});
    ODB_CHECK(reducer->rebuild_buckets(), "the buckets were already fixed");
  }
};

GradientReducer::GradientReducer(TrainingGroups& groups, std::vector<torch::Tensor> parameters,
                                 std::int64_t bucket_bytes)
    : parts_(std::make_unique<Parts>()) {
  ODB_CHECK(!parameters.empty() && bucket_bytes > 0, "{} parameters, buckets of {} bytes",
            parameters.size(), bucket_bytes);
  for (const torch::Tensor& parameter : parameters) {
    ODB_CHECK(parameter.is_leaf() && parameter.requires_grad(), "not a trainable parameter");
    ODB_CHECK(parameter.device().type() == groups.device().type(),
              "a parameter on {}, but the groups on {}", parameter.device().str(),
              groups.device().str());
    parts_->zeros.push_back(torch::zeros({}, parameter.options()).expand_as(parameter));
  }
  parts_->parameters = std::move(parameters);
  as_peer_loss(kWhat, [&] {
    parts_->reducer = make_reducer(groups, parts_->parameters, bucket_bytes);
    parts_->logger = std::make_shared<c10d::Logger>(parts_->reducer);
    parts_->reducer->set_logger(parts_->logger);
    parts_->fix_buckets();
  });
  zero_gradients();
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::zero_gradients() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parts_->parameters.size());
  for (const torch::Tensor& parameter : parts_->parameters)
    gradients.push_back(parameter.grad());
  at::_foreach_zero_(gradients);
}

void GradientReducer::prepare(const torch::Tensor& loss) {
  ODB_CHECK(loss.requires_grad(), "a loss that depends on no parameter");
  parts_->expect_backward();
  const auto unreached = unreached_parameters(loss, parts_->parameters);
  if (unreached.empty()) return;
  std::vector<torch::Tensor> zeros;
  for (const torch::Tensor& parameter : unreached)
    zeros.push_back(torch::zeros({}, parameter.options()).expand_as(parameter));
  as_peer_loss(kWhat, [&] { torch::autograd::backward(unreached, zeros); });
}

void GradientReducer::reduce_without_data() {
  parts_->expect_backward();
  as_peer_loss(kWhat, [&] { torch::autograd::backward(parts_->parameters, parts_->zeros); });
}

}  // namespace odb
