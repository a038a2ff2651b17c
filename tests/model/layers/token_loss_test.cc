#include "model/layers/token_loss.h"

#include <ATen/ops/cross_entropy_loss.h>

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "model/golden_models.h"
#include "model/memory_watch.h"

using namespace odb;
using torch::Tensor;

namespace {

struct Inputs {
  Tensor hidden;
  Tensor weight;
  SupervisedPositions supervised;
};

// Seeded numbers of LibTorch, which need not be the same everywhere: both sides of a check use
// them.
Inputs random_inputs(std::int64_t tokens, std::int64_t vocabulary, torch::ScalarType type) {
  torch::manual_seed(7);
  Inputs in{torch::randn({tokens, 16}).to(type), torch::randn({vocabulary, 16}).to(type), {}};
  const Tensor labels = torch::randint(0, vocabulary, {tokens}, torch::kLong);
  labels.masked_fill_(torch::rand({tokens}) < 0.4, kIgnoreIndex);
  in.supervised = supervised_positions(labels, RowOffsets::padded(1, tokens), vocabulary);
  in.hidden.requires_grad_();
  in.weight.requires_grad_();
  return in;
}

Tensor plain_loss(const Inputs& in) {
  const Tensor logits =
      torch::mm(in.hidden.index_select(0, in.supervised.positions), in.weight.t());
  return at::cross_entropy_loss(logits, in.supervised.labels, {}, at::Reduction::Sum);
}

struct Result {
  double loss;
  Tensor d_hidden;
  Tensor d_weight;
};

Result backward_of(const Inputs& in, const Tensor& loss, double factor = 1) {
  in.hidden.mutable_grad() = Tensor();
  in.weight.mutable_grad() = Tensor();
  (loss * factor).backward();
  return {loss.item<double>(), in.hidden.grad(), in.weight.grad()};
}

}  // namespace

TEST_CASE("The loss and its gradients in fp64 are those of transformers to 1e-9") {
  const auto answers = read_tensors(kGoldenModels + "loss/answers.safetensors");
  const Inputs in{answers.at("hidden").requires_grad_(), answers.at("weight").requires_grad_(),
                  supervised_positions(answers.at("labels"),
                                       RowOffsets::padded(1, answers.at("labels").size(0)), 31)};
  for (const std::int64_t chunk : {1, 3, 1000}) {
    const Result found = backward_of(
        in, token_loss(in.hidden, in.weight, in.supervised, {.chunk_positions = chunk}));
    CHECK(found.loss == Approx(answers.at("loss").item<double>()).epsilon(1e-9));
    CHECK(distance(found.d_hidden, answers.at("grad.hidden")) < 1e-9);
    CHECK(distance(found.d_weight, answers.at("grad.weight")) < 1e-9);
  }
}

TEST_CASE("Chunks of any size give the plain loss in fp32") {
  const Inputs in = random_inputs(61, 5000, torch::kFloat);
  const Result expected = backward_of(in, plain_loss(in));
  for (const std::int64_t chunk : {1, 7, 1000}) {
    const Result found = backward_of(
        in, token_loss(in.hidden, in.weight, in.supervised, {.chunk_positions = chunk}));
    CHECK(found.loss == Approx(expected.loss).epsilon(1e-6));
    CHECK(distance(found.d_hidden, expected.d_hidden) < 1e-5);
    CHECK(distance(found.d_weight, expected.d_weight) < 1e-5);
  }
}

TEST_CASE("The incoming gradient scales the outgoing ones") {
  const Inputs in = random_inputs(20, 100, torch::kFloat);
  const Result once = backward_of(in, token_loss(in.hidden, in.weight, in.supervised));
  const Result half = backward_of(in, token_loss(in.hidden, in.weight, in.supervised), 0.5);
  CHECK(distance(once.d_hidden * 0.5, half.d_hidden) < 1e-7);
  CHECK(distance(once.d_weight * 0.5, half.d_weight) < 1e-7);
}

TEST_CASE("Without gradients, or with one of them frozen, the loss is the same") {
  Inputs in = random_inputs(20, 100, torch::kFloat);
  const double expected = plain_loss(in).item<double>();
  {
    const torch::NoGradGuard no_gradients;
    CHECK(token_loss(in.hidden, in.weight, in.supervised).item<double>() == Approx(expected));
  }
  in.weight = in.weight.detach();
  const Tensor loss = token_loss(in.hidden, in.weight, in.supervised);
  CHECK(loss.item<double>() == Approx(expected));
  loss.backward();
  CHECK(in.hidden.grad().defined());
  CHECK_FALSE(in.weight.grad().defined());
}

TEST_CASE("A state predicts the next token of its own row") {
  const Tensor labels = torch::tensor({4, 5, -100, 6, 7, 8}, torch::kLong);
  const std::vector<std::int64_t> lengths = {3, 1, 2};
  const SupervisedPositions found =
      supervised_positions(labels, RowOffsets::of_lengths(lengths), 9);
  CHECK(torch::equal(found.positions, torch::tensor({0, 4}, torch::kLong)));
  CHECK(torch::equal(found.labels, torch::tensor({5, 8}, torch::kLong)));
}

TEST_CASE("A label beyond the vocabulary is refused with its place") {
  const Tensor labels = torch::tensor({1, 2, 9}, torch::kLong);
  CHECK_THROWS_AS(supervised_positions(labels, RowOffsets::padded(1, 3), 9), DataError);
}

TEST_CASE("Nothing supervised: a loss of zero, and gradients of zero") {
  const Inputs in{torch::randn({4, 16}).requires_grad_(), torch::randn({9, 16}).requires_grad_(),
                  supervised_positions(torch::full({4}, kIgnoreIndex, torch::kLong),
                                       RowOffsets::padded(1, 4), 9)};
  CHECK(in.supervised.count() == 0);
  const Result found = backward_of(in, token_loss(in.hidden, in.weight, in.supervised));
  CHECK(found.loss == 0);
  CHECK(found.d_hidden.abs().max().item<double>() == 0);
  CHECK(found.d_weight.abs().max().item<double>() == 0);
}

TEST_CASE("Memory does not grow with vocabulary x length") {
  constexpr std::int64_t kVocabulary = 20000;
  constexpr std::int64_t kPositions = 13;
  constexpr std::int64_t kChunk = 4 * kVocabulary * kPositions;
  const auto peak = [](std::int64_t tokens) {
    const Inputs in = random_inputs(tokens, kVocabulary, torch::kFloat);
    const MemoryWatch watch;
    token_loss(in.hidden, in.weight, in.supervised, {.chunk_positions = kPositions}).backward();
    return watch.peak();
  };
  const std::int64_t d_weight = kVocabulary * 16 * 4;
  const std::int64_t few = peak(100);
  const std::int64_t many = peak(2000);  // its logits would take 96 MB
  CHECK(few < 2 * d_weight + 4 * kChunk);
  CHECK(many - few < 3 * 2000 * 16 * 4);
}
