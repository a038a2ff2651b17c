// The gradient of a step, against one process that goes through the same samples one by one.
#include <algorithm>
#include <map>
#include <string>

#include <ATen/Parallel.h>

#include "batching/loss_weights.h"
#include "catch.h"
#include "dist/training_ranks.h"
#include "model/init.h"
#include "model/language_model.h"
#include "model/test_models.h"
#include "step_by_hand.h"
#include "train/step/training_step.h"

using namespace odb;
using torch::Tensor;

namespace {

constexpr std::size_t kSamples = 14;
constexpr LossNorm kNorms[] = {LossNorm::token, LossNorm::sample, LossNorm::rank_mean};
constexpr Idle kIdles[] = {Idle::nobody, Idle::some, Idle::one_rank, Idle::all_but_one_last,
                           Idle::closing};

// One step of a case.
struct Case {
  LossNorm norm = LossNorm::token;
  Layout layout = Layout::flat;
  std::vector<HandSample> samples;
  HandStep step;
  std::string description;
};

std::vector<Case> cases_of(int world) {
  std::vector<Case> cases;
  for (const LossNorm norm : kNorms)
    for (const Idle idle : kIdles)
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const int micro_steps = 1 + static_cast<int>((seed + static_cast<std::uint64_t>(idle)) % 3);
        cases.push_back({.norm = norm,
                         .layout = seed % 2 == 0 ? Layout::flat : Layout::padded,
                         .samples = random_samples(seed, kSamples, 20),
                         .step = random_step(seed, kSamples, world, micro_steps, idle),
                         .description = std::string(name(norm)) + ", idle kind " +
                                        std::to_string(static_cast<int>(idle)) + ", seed " +
                                        std::to_string(seed)});
      }
  return cases;
}

LanguageModel tiny_model() {
  auto json = tiny_config();
  json["initializer_range"] = 0.3;
  LanguageModel model(parse(json), {});
  initialize_weights(model, 5);
  return model;
}

// What a supervised token of the sample counts for, as docs/training.md says it.
double share_of_token(const Case& one, const HandGroup& group, const HandSample& sample) {
  const SlotTotals totals = totals_of(one.samples, one.step);
  switch (one.norm) {
    case LossNorm::token:
      return 1.0 / static_cast<double>(totals.supervised);
    case LossNorm::sample:
      return 1.0 / static_cast<double>(totals.samples * sample.supervised());
    case LossNorm::rank_mean:
      return 1.0 /
             static_cast<double>(totals.supervised_groups * supervised_in(one.samples, group));
  }
  throw std::logic_error("no such norm");
}

using Gradients = std::map<std::string, Tensor>;

Gradients gradients_of(const LanguageModel& model, double scale) {
  Gradients gradients;
  for (const auto& [weight, tensor] : model.weights())
    gradients[weight] = tensor.grad().to(torch::kDouble) * scale;
  return gradients;
}

struct Reference {
  Gradients gradients;
  double loss = 0;
};

// Sample by sample, each a batch of its own; sums in fp64.
Reference in_one_process(const Case& one) {
  LanguageModel model = tiny_model();
  Reference reference;
  for (const auto& [weight, tensor] : model.weights()) {
    reference.gradients[weight] = torch::zeros(tensor.sizes(), torch::kDouble);
    tensor.mutable_grad() = torch::zeros_like(tensor);
  }
  for (const auto& micro_step : one.step)
    for (const HandGroup& group : micro_step)
      for (const std::size_t index : group) {
        const HandSample& sample = one.samples[index];
        if (sample.supervised() == 0) continue;
        const double share = share_of_token(one, group, sample);
        const auto batch = batch_of(one.samples, {index}, Layout::flat, LossNorm::token);
        for (const auto& [weight, tensor] : model.weights())
          tensor.mutable_grad().zero_();
        const Tensor sum = model.loss(batch->tokens, batch->labels, batch->rows).sum;
        sum.backward();
        reference.loss += share * sum.item<double>();
        for (auto& [weight, gradient] : gradients_of(model, share))
          reference.gradients[weight] += gradient;
      }
  return reference;
}

double norm_of(const Gradients& gradients) {
  double squares = 0;
  for (const auto& [weight, gradient] : gradients)
    squares += gradient.square().sum().item<double>();
  return std::sqrt(squares);
}

// Relative to the longest of each weight's gradient.
double distance(const Gradients& found, const Gradients& expected) {
  double largest = 0;
  for (const auto& [weight, gradient] : expected)
    largest = std::max(largest, (found.at(weight) - gradient).norm().item<double>() /
                                    std::max(gradient.norm().item<double>(), 1e-9));
  return largest;
}

// One rank's part of the case through TrainingStep, and what comes out of it.
void check_case(TrainingGroups& groups, const Case& one, const Reference& reference) {
  LanguageModel model = tiny_model();
  GradientReducer reducer(groups, model.parameters());
  Optimizer optimizer({.optimizer = OptimizerKind::sgd}, model.weights());
  DistributedStep step(loss_of(model), model.weights(), groups, reducer, optimizer,
                       {.loss_norm = one.norm, .max_grad_norm = 0});
  double loss_sum = 0;
  for (std::size_t i = 0; i < one.step.size(); ++i) {
    const HandGroup& group = one.step[i][static_cast<std::size_t>(groups.rank())];
    const auto batch = batch_of(one.samples, group, one.layout, one.norm);
    step.forward(batch ? &*batch : nullptr);
    loss_sum += step.loss_sum();
    step.backward(i + 1 == one.step.size());
  }
  const SlotTotals totals = totals_of(one.samples, one.step);
  const Gradients gradients = gradients_of(model, gradient_scale(one.norm, totals, groups.world()));
  const double apart = distance(gradients, reference.gradients);
  require(apart < 1e-5, one.description + ": gradients are apart by " + std::to_string(apart));
  const StepUpdate update = step.update(totals, 0);
  const double expected = norm_of(reference.gradients);
  require(update.updated && std::abs(update.gradient_norm - expected) < 1e-5 * expected,
          one.description + ": norm " + std::to_string(update.gradient_norm) + " for " +
              std::to_string(expected));
  const Tensor sum = torch::tensor({loss_sum}, torch::kDouble);
  std::vector<Tensor> sums = {sum};
  groups.control()->allreduce(sums)->wait();
  const double loss = sum.item<double>() / static_cast<double>(loss_denominator(one.norm, totals));
  require(std::abs(loss - reference.loss) < 1e-5 * reference.loss,
          one.description + ": loss " + std::to_string(loss) + " for " +
              std::to_string(reference.loss));
  for (const auto& [weight, tensor] : model.weights())
    require(tensor.grad().abs().max().item<double>() == 0, "zero after the step");
}

}  // namespace

TEST_CASE("The gradient of a step is that of one process over the same samples") {
  at::set_num_threads(1);
  for (const int world : {1, 2, 3, 4}) {
    INFO(world << " ranks");
    const std::vector<Case> cases = cases_of(world);
    std::vector<Reference> references;
    for (const Case& one : cases)
      references.push_back(in_one_process(one));
    CHECK(on_training_ranks(world, [&](TrainingGroups& groups) {
            for (std::size_t i = 0; i < cases.size(); ++i)
              check_case(groups, cases[i], references[i]);
          }) == no_faults(world));
  }
}

TEST_CASE("However samples are dealt out, the gradient by tokens or samples is the same") {
  at::set_num_threads(1);
  const auto samples = random_samples(11, kSamples, 20);
  for (const LossNorm norm : {LossNorm::token, LossNorm::sample}) {
    const auto dealt = [&](std::uint64_t seed, Idle idle, int micro_steps) {
      return Case{.norm = norm,
                  .layout = Layout::flat,
                  .samples = samples,
                  .step = random_step(seed, kSamples, 3, micro_steps, idle),
                  .description = "dealt by seed " + std::to_string(seed)};
    };
    const Reference reference = in_one_process(dealt(0, Idle::nobody, 1));
    CHECK(on_training_ranks(3, [&](TrainingGroups& groups) {
            for (std::uint64_t seed = 1; seed < 7; ++seed)
              check_case(groups, dealt(seed, Idle::some, 1 + static_cast<int>(seed % 4)),
                         reference);
          }) == no_faults(3));
  }
}

TEST_CASE("A step of which no rank has anything to learn updates nothing") {
  at::set_num_threads(1);
  CHECK(on_training_ranks(2, [&](TrainingGroups& groups) {
          LanguageModel model = tiny_model();
          const Tensor before = model.weights().begin()->second.detach().clone();
          GradientReducer reducer(groups, model.parameters());
          Optimizer optimizer({.weight_decay = 0.5}, model.weights());
          DistributedStep step(loss_of(model), model.weights(), groups, reducer, optimizer, {});
          step.forward(nullptr);
          require(step.loss_sum() == 0, "no loss");
          step.backward(true);
          const StepUpdate update = step.update({.samples = 2}, 1);
          require(update.finite && !update.updated && optimizer.updates() == 0, "no update");
          require(model.weights().begin()->second.equal(before), "the weights are as before");
        }) == no_faults(2));
}

TEST_CASE("A step that is dropped leaves nothing in the next one") {
  at::set_num_threads(1);
  const Case one{.samples = random_samples(3, kSamples, 20),
                 .step = random_step(3, kSamples, 2, 2, Idle::nobody),
                 .description = "after a dropped step"};
  const Reference reference = in_one_process(one);
  CHECK(on_training_ranks(2, [&](TrainingGroups& groups) {
          LanguageModel model = tiny_model();
          GradientReducer reducer(groups, model.parameters());
          Optimizer optimizer({}, model.weights());
          DistributedStep step(loss_of(model), model.weights(), groups, reducer, optimizer, {});
          const auto run = [&](std::size_t micro_step, bool last) {
            const auto& group = one.step[micro_step][static_cast<std::size_t>(groups.rank())];
            const auto batch = batch_of(one.samples, group, Layout::flat, LossNorm::token);
            step.forward(&*batch);
            step.backward(last);
          };
          run(0, false);
          step.drop();
          run(0, false);
          run(1, true);
          const auto totals = totals_of(one.samples, one.step);
          require(distance(gradients_of(model, gradient_scale(LossNorm::token, totals, 2)),
                           reference.gradients) < 1e-5,
                  "gradients of the step alone");
        }) == no_faults(2));
}
