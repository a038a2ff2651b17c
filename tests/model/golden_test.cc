// Equal to transformers on tiny random models: logits, loss, every gradient, generated text.
#include <filesystem>

#include <torch/types.h>

#include "catch.h"
#include "golden_models.h"
#include "model/files/weight_names.h"
#include "model/generate.h"

using namespace odb;
using torch::Tensor;

namespace {

const std::vector<std::string> kWhole = {"qwen3_tied", "qwen3_untied", "qwen2", "llama3",
                                         "llama_biases"};
const std::vector<std::string> kRopes = {"rope_linear", "rope_dynamic", "rope_yarn",
                                         "rope_yarn_scaled"};

std::map<std::string, Tensor> answers_of(const std::string& name) {
  return read_tensors(kGoldenModels + name + "/answers.safetensors");
}

// Largest difference relative to the largest value, and to 1 where all are smaller.
double relative(const Tensor& found, const Tensor& expected) {
  return distance(found, expected) / std::max(1.0, expected.abs().max().item<double>());
}

// The gradients of the model after one backward against the golden ones, scaled like `relative`.
void check_gradients(const LanguageModel& model, const std::map<std::string, Tensor>& answers,
                     double tolerance) {
  for (const auto& [name, gradient] : published_gradients(model)) {
    INFO(name);
    CHECK(relative(gradient, answers.at("grad." + name)) < tolerance);
  }
}

}  // namespace

TEST_CASE("Logits of every family and rope type are those of transformers") {
  std::vector<std::string> names = kWhole;
  names.insert(names.end(), kRopes.begin(), kRopes.end());
  for (const std::string& name : names) {
    INFO(name);
    const auto answers = answers_of(name);
    LanguageModel model = load_model(kGoldenModels + name);
    const Batch batch = golden_batch(answers);
    const torch::NoGradGuard no_gradients;
    const Tensor logits = model.logits(model.hidden_states(batch.tokens, batch.rows));
    CHECK(relative(logits, answers.at("logits")) < 1e-5);
  }
}

TEST_CASE("Loss and every gradient are those of transformers, flat and padded") {
  for (const std::string& name : kWhole) {
    for (const bool pad : {false, true}) {
      INFO(name << (pad ? " padded" : " flat"));
      const auto answers = answers_of(name);
      LanguageModel model = load_model(kGoldenModels + name);
      Batch batch = golden_batch(answers);
      if (pad) batch = padded(batch, 3);
      const LossSum loss = model.loss(batch.tokens, batch.labels, batch.rows);
      loss.sum.backward();
      CHECK(relative(loss.sum, answers.at("loss")) < 1e-5);
      check_gradients(model, answers, 1e-5);
    }
  }
}

TEST_CASE("Gradient checkpointing of a block gives the same gradients, bit for bit") {
  for (const std::string& name : kWhole) {
    INFO(name);
    const auto answers = answers_of(name);
    const Batch batch = golden_batch(answers);
    LanguageModel kept = load_model(kGoldenModels + name);
    LanguageModel again = load_model(kGoldenModels + name, {.recompute = Recompute::block});
    const Tensor loss = kept.loss(batch.tokens, batch.labels, batch.rows).sum;
    const Tensor same_loss = again.loss(batch.tokens, batch.labels, batch.rows).sum;
    loss.backward();
    same_loss.backward();
    CHECK(loss.item<float>() == same_loss.item<float>());
    for (const auto& [weight, tensor] : kept.weights()) {
      INFO(weight);
      CHECK(torch::equal(tensor.grad(), again.weights().at(weight).grad()));
    }
  }
}

TEST_CASE("bf16 stays within its own precision of fp32") {
  for (const std::string& name : kWhole) {
    INFO(name);
    const auto answers = answers_of(name);
    const Batch batch = golden_batch(answers);
    LanguageModel model = load_model(kGoldenModels + name, {.dtype = ComputeType::bf16});
    const LossSum loss = model.loss(batch.tokens, batch.labels, batch.rows);
    loss.sum.backward();
    // bf16 keeps 8 bits: 1/256 a rounding, and a value is rounded a few dozen times.
    CHECK(relative(loss.sum, answers.at("loss")) < 0.02);
    for (const auto& [weight, gradient] : published_gradients(model)) {
      INFO(weight);
      const Tensor expected = answers.at("grad." + weight);
      CHECK(gradient.scalar_type() == torch::kFloat);
      CHECK((gradient - expected).norm().item<double>() < 0.05 * expected.norm().item<double>());
    }
  }
}

TEST_CASE("Greedy generation gives the tokens of transformers") {
  for (const std::string& name : kWhole) {
    INFO(name);
    const auto answers = answers_of(name);
    LanguageModel model = load_model(kGoldenModels + name);
    const Tensor& prompt = answers.at("prompt");
    const auto* first = prompt.const_data_ptr<std::int64_t>();
    const std::vector<std::int64_t> tokens = generate_greedily(
        model, {first, static_cast<std::size_t>(prompt.numel())}, {.max_new_tokens = 32});
    CHECK(torch::equal(torch::tensor(tokens, torch::kLong), answers.at("generated")));
  }
}
