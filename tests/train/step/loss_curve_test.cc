// 200 steps compared with transformers and torch's AdamW on the same batches
// (tests/golden/training).
#include <algorithm>
#include <numeric>

#include "catch.h"
#include "dist/training_ranks.h"
#include "model/files/weight_names.h"
#include "model/golden_models.h"
#include "step_by_hand.h"
#include "train/step/schedule.h"
#include "train/step/training_step.h"

using namespace odb;
using torch::Tensor;

namespace {

using Golden = std::map<std::string, Tensor>;

std::vector<std::vector<HandSample>> batches_of(const Golden& golden) {
  const auto numbers = [&](const char* key) {
    const Tensor& tensor = golden.at(key);
    const auto* first = tensor.const_data_ptr<std::int64_t>();
    return std::vector<std::int64_t>(first, first + tensor.numel());
  };
  const auto tokens = numbers("tokens");
  const auto labels = numbers("labels");
  const auto lengths = numbers("lengths");
  std::vector<std::vector<HandSample>> batches;
  std::size_t token = 0;
  std::size_t row = 0;
  for (const std::int64_t rows : numbers("rows")) {
    auto& batch = batches.emplace_back(static_cast<std::size_t>(rows));
    for (HandSample& sample : batch)
      for (std::int64_t left = lengths[row++]; left > 0; --left, ++token) {
        sample.tokens.push_back(static_cast<std::int32_t>(tokens[token]));
        sample.labels.push_back(static_cast<std::int32_t>(labels[token]));
      }
  }
  return batches;
}

// The greatest difference of a step's value, relative to the golden one.
double apart(const std::vector<double>& found, const Tensor& expected) {
  REQUIRE(static_cast<std::int64_t>(found.size()) == expected.numel());
  double largest = 0;
  for (std::size_t step = 0; step < found.size(); ++step) {
    const double golden = expected[static_cast<std::int64_t>(step)].item<double>();
    largest = std::max(largest, std::abs(found[step] - golden) / std::max(1e-9, std::abs(golden)));
  }
  return largest;
}

void check_curve(const std::string& schedule, const OptimizerOptions& options, Layout layout) {
  const Golden golden = read_tensors(ODB_TESTS_FOLDER "/golden/training/curves.safetensors");
  const auto batches = batches_of(golden);
  LanguageModel model = load_model(kGoldenModels + "qwen3_untied");
  std::vector<double> losses, norms, rates;
  CHECK(on_training_ranks(1, [&](TrainingGroups& groups) {
          GradientReducer reducer(groups, model.parameters());
          Optimizer optimizer(options, model.weights());
          DistributedStep step(loss_of(model), model.weights(), groups, reducer, optimizer, {});
          Progress progress({.data_size = 1, .steps = golden.at("loss." + schedule).numel()});
          while (!progress.done()) {
            const auto& samples =
                batches[static_cast<std::size_t>(progress.totals().steps) % batches.size()];
            HandGroup all(samples.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            const auto batch = batch_of(samples, all, layout, LossNorm::token);
            step.forward(&*batch);
            losses.push_back(step.loss_sum() / static_cast<double>(batch->supervised));
            step.backward(true);
            rates.push_back(options.lr * learning_rate_factor(schedule_shape(options), progress));
            norms.push_back(step.update(totals_of(samples, {{all}}), rates.back()).gradient_norm);
            progress.add_step({});
          }
        }) == no_faults(1));
  CHECK(apart(losses, golden.at("loss." + schedule)) < 1e-4);
  CHECK(apart(norms, golden.at("norm." + schedule)) < 1e-4);
  CHECK(apart(rates, golden.at("lr." + schedule)) < 1e-12);
  for (const PublishedWeight& weight : published_weights(model.config())) {
    const auto expected = golden.find("weight." + schedule + "." + weight.name);
    if (expected == golden.end()) continue;
    INFO(weight.name);
    const Tensor found =
        model.weights().at(weight.parameter).narrow(0, weight.first_row, weight.shape.front());
    CHECK(distance(found, expected->second) < 1e-4);
  }
}

}  // namespace

TEST_CASE("200 steps at a constant learning rate are those of transformers and AdamW") {
  check_curve("constant",
              {.lr = 2e-3,
               .lr_schedule = LearningRateSchedule::constant,
               .warmup = {.share = 0, .amount = {}},
               .weight_decay = 0.1},
              Layout::flat);
}

TEST_CASE("200 steps down a cosine after a warm-up are those of transformers and AdamW") {
  for (const Layout layout : {Layout::flat, Layout::padded})
    check_curve("cosine", {.lr = 2e-3, .warmup = {.share = 0.1, .amount = {}}, .weight_decay = 0.1},
                layout);
}
