// The numbers of an update are rank 0's on all ranks, whatever a rank makes of its own.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "catch.h"
#include "dist/training_ranks.h"
#include "train/step/training_step.h"

using namespace odb;
using torch::Tensor;

namespace {

constexpr int kWorld = 3;

struct Outcome {
  StepUpdate update;
  Tensor weight;
  std::int64_t updates = 0;
};

using ChangeGradient = std::function<void(int rank, Tensor gradient)>;

// One step of one weight on each rank; `change` has the gradient between reduction and update.
std::vector<Outcome> one_step(const ChangeGradient& change) {
  std::vector<Outcome> outcomes(kWorld);
  CHECK(on_training_ranks(kWorld, [&](TrainingGroups& groups) {
          const int rank = groups.rank();
          const Tensor weight = torch::linspace(-1, 1, 600).reshape({20, 30}).requires_grad_();
          const std::map<std::string, Tensor> parameters = {{"weight", weight}};
          const auto loss = [&](const MicroBatch&) {
            return LossParts{
                {.name = "square", .sum = (weight * (1 + rank)).square().sum(), .count = 1}};
          };
          GradientReducer reducer(groups, {weight});
          Optimizer optimizer({.weight_decay = 0.1}, parameters);
          DistributedStep step(loss, parameters, groups, reducer, optimizer,
                               {.max_grad_norm = 0.5});
          const MicroBatch batch{.rows = RowOffsets::padded(1, 1), .supervised = 1};
          step.forward(&batch);
          step.backward(true);
          change(rank, weight.grad());
          const StepUpdate update = step.update({.supervised = kWorld}, 1e-3 * (1 + rank));
          outcomes[static_cast<std::size_t>(rank)] = {update, weight.detach(), optimizer.updates()};
        }) == no_faults(kWorld));
  return outcomes;
}

}  // namespace

TEST_CASE("All ranks update with the learning rate of rank 0") {
  const auto outcomes = one_step([](int, const Tensor&) {});
  const Tensor before = torch::linspace(-1, 1, 600).reshape({20, 30});
  CHECK_FALSE(outcomes[0].weight.equal(before));
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.update.learning_rate == 1e-3);
    CHECK(outcome.update.gradient_norm == outcomes[0].update.gradient_norm);
    CHECK(outcome.weight.equal(outcomes[0].weight));
  }
}

TEST_CASE("All ranks clip by the norm of rank 0, and use its result on what is finite") {
  const auto outcomes = one_step([](int rank, Tensor gradient) {
    if (rank == 1) gradient.mul_(1.5);  // as if it had added up otherwise
    if (rank == 2) gradient[0][0] = NAN;
  });
  CHECK(outcomes[0].update.gradient_norm > 0.5);
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.update.gradient_norm == outcomes[0].update.gradient_norm);
    CHECK(outcome.update.finite);
    CHECK(outcome.updates == 1);
  }
  for (const Outcome& outcome : one_step([](int rank, Tensor gradient) {
         if (rank == 0) gradient[0][0] = NAN;
       })) {
    CHECK_FALSE(outcome.update.finite);
    CHECK(outcome.updates == 0);
  }
}
