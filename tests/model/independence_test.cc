// A row's result does not depend on its neighbors, the padding or the layout.
#include <torch/types.h>

#include "base/error.h"
#include "catch.h"
#include "golden_models.h"

using namespace odb;
using torch::Tensor;

namespace {

Tensor states_of(LanguageModel& model, const Batch& batch) {
  const torch::NoGradGuard no_gradients;
  return model.hidden_states(batch.tokens, batch.rows);
}

Batch golden(const std::string& name) {
  return golden_batch(read_tensors(kGoldenModels + name + "/answers.safetensors"));
}

Batch reversed(const Batch& batch) {
  std::vector<Tensor> tokens, labels;
  std::vector<std::int64_t> lengths;
  for (std::int64_t row = batch.rows.rows(); row-- > 0;) {
    tokens.push_back(single_row(batch, row).tokens);
    labels.push_back(single_row(batch, row).labels);
    lengths.push_back(batch.rows.length(row));
  }
  return {torch::cat(tokens), torch::cat(labels), RowOffsets::of_lengths(lengths)};
}

std::map<std::string, Tensor> gradients_of(LanguageModel& model, const Batch& batch) {
  for (const auto& [name, tensor] : model.weights())
    tensor.mutable_grad() = Tensor();
  model.loss(batch.tokens, batch.labels, batch.rows).sum.backward();
  std::map<std::string, Tensor> gradients;
  for (const auto& [name, tensor] : model.weights())
    gradients[name] = tensor.grad().clone();
  return gradients;
}

constexpr double kTolerance = 1e-5;

}  // namespace

TEST_CASE("A row alone, in a flat batch and in a padded one: the same states") {
  LanguageModel model = load_model(kGoldenModels + "qwen3_untied");
  const Batch batch = golden("qwen3_untied");
  const Tensor flat = states_of(model, batch);
  const Tensor in_padding = states_of(model, padded(batch, 3));
  const std::int64_t longest = batch.rows.longest();
  for (std::int64_t row = 0; row < batch.rows.rows(); ++row) {
    const std::int64_t length = batch.rows.length(row);
    const Tensor alone = states_of(model, single_row(batch, row));
    CHECK(distance(flat.narrow(0, batch.rows.begin(row), length), alone) < kTolerance);
    CHECK(distance(in_padding.narrow(0, row * longest, length), alone) < kTolerance);
  }
}

TEST_CASE("A row's result does not depend on its neighbors or their order") {
  LanguageModel model = load_model(kGoldenModels + "llama3");
  const Batch batch = golden("llama3");
  const Tensor forwards = states_of(model, batch);
  const Batch turned = reversed(batch);
  const Tensor backwards = states_of(model, turned);
  const std::int64_t last = batch.rows.rows() - 1;
  for (std::int64_t row = 0; row <= last; ++row)
    CHECK(distance(forwards.narrow(0, batch.rows.begin(row), batch.rows.length(row)),
                   backwards.narrow(0, turned.rows.begin(last - row), batch.rows.length(row))) <
          kTolerance);
}

TEST_CASE("Padding's content changes no loss and no gradient") {
  LanguageModel model = load_model(kGoldenModels + "qwen3_tied");
  const Batch batch = golden("qwen3_tied");
  const auto flat = gradients_of(model, batch);
  const auto zeros = gradients_of(model, padded(batch, 0));
  const auto others = gradients_of(model, padded(batch, 61));
  for (const auto& [name, gradient] : flat) {
    INFO(name);
    const double size = std::max(1.0, gradient.abs().max().item<double>());
    CHECK(distance(gradient, zeros.at(name)) < 1e-5 * size);
    CHECK(distance(zeros.at(name), others.at(name)) < 1e-5 * size);
  }
}

TEST_CASE("Dynamic scaling uses each row's own length") {
  LanguageModel model = load_model(kGoldenModels + "rope_dynamic");
  const Batch longer = golden("rope_dynamic");
  REQUIRE(longer.rows.longest() > model.config().max_length);
  const Batch shorter{longer.tokens.narrow(0, 0, 20), longer.labels.narrow(0, 0, 20),
                      RowOffsets::padded(1, 20)};
  const std::vector<std::int64_t> lengths = {90, 20};
  const Batch both{torch::cat({longer.tokens, shorter.tokens}),
                   torch::cat({longer.labels, shorter.labels}), RowOffsets::of_lengths(lengths)};
  const Tensor states = states_of(model, both);
  CHECK(distance(states.narrow(0, 0, 90), states_of(model, longer)) < kTolerance);
  CHECK(distance(states.narrow(0, 90, 20), states_of(model, shorter)) < kTolerance);
}

TEST_CASE("A token beyond the vocabulary is refused") {
  LanguageModel model = load_model(kGoldenModels + "qwen2");
  for (const std::int64_t token : {64, -1})
    CHECK_THROWS_AS(
        model.hidden_states(torch::full({2}, token, torch::kLong), RowOffsets::padded(1, 2)),
        DataError);
}

TEST_CASE("Rows without tokens are skipped") {
  LanguageModel model = load_model(kGoldenModels + "qwen2");
  const Batch batch = golden("qwen2");
  std::vector<std::int64_t> lengths = {0};
  for (std::int64_t row = 0; row < batch.rows.rows(); ++row)
    lengths.insert(lengths.end(), {batch.rows.length(row), 0});
  const Batch gaps{batch.tokens, batch.labels, RowOffsets::of_lengths(lengths)};
  CHECK(torch::equal(states_of(model, batch), states_of(model, gaps)));
}
