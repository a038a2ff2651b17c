#include "model/layers/token_loss.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <torch/autograd.h>

#include "base/error.h"
#include "base/ignore_index.h"
#include "base/index.h"
#include "model/cpu/cpu_rows.h"
#include "model/layers/linear.h"
#include "model/layers/loss_chunk.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Losses of a chunk, [positions]; with `gradient` its logits become their own gradient.
Tensor cross_entropy_rows(Tensor& logits, const Tensor& labels, bool gradient) {
  const std::int64_t size = logits.size(1);
  if (!has_row_kernels(logits)) {
    const Tensor log_probabilities = torch::log_softmax(logits, 1);
    const Tensor column = labels.unsqueeze(1);
    const Tensor losses = -log_probabilities.gather(1, column).squeeze(1);
    if (gradient) {
      logits = log_probabilities.exp_();
      logits.scatter_add_(1, column, -torch::ones_like(column, logits.options()));
    }
    return losses;
  }
  const Tensor losses = torch::empty({logits.size(0)}, torch::kFloat);
  auto* rows = logits.mutable_data_ptr<float>();
  const auto* targets = labels.const_data_ptr<std::int64_t>();
  auto* to = losses.mutable_data_ptr<float>();
  for_rows(logits.size(0), size, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin; i < end; ++i)
      to[i] = gradient ? row::cross_entropy_in_place(rows + i * size, targets[i], size)
                       : row::cross_entropy(rows + i * size, targets[i], size);
  });
  return losses;
}

// d_weight += d_logits^T x hidden, a block of the vocabulary at a time: the product of a block is
// added while it is in the cache.
void add_weight_gradient(const Tensor& d_logits, const Tensor& hidden, Tensor& d_weight) {
  constexpr std::int64_t kBlockValues = 1 << 21;  // of d_weight, and of d_logits, which is copied
  const std::int64_t vocabulary = d_weight.size(0);
  const std::int64_t widest = std::max({std::int64_t{1}, d_weight.size(1), d_logits.size(0)});
  const std::int64_t block =
      d_weight.device().is_cpu() ? std::max<std::int64_t>(256, kBlockValues / widest) : vocabulary;
  for (std::int64_t begin = 0; begin < vocabulary; begin += block) {
    const std::int64_t rows = std::min(block, vocabulary - begin);
    d_weight.narrow(0, begin, rows)
        .add_(multiply_transposed(d_logits.narrow(1, begin, rows).t(), hidden.t()));
  }
}

struct LossParts {
  Tensor sum;
  Tensor d_hidden;  // [positions, size]; undefined without gradients
  Tensor d_weight;
};

LossParts loss_in_chunks(const Tensor& hidden, const Tensor& weight,
                         const SupervisedPositions& supervised, bool wants_hidden,
                         bool wants_weight, std::int64_t chunk) {
  const bool is_fp64 = hidden.scalar_type() == torch::kDouble;
  const auto sum_type = is_fp64 ? torch::kDouble : torch::kFloat;
  const Tensor cast_weight = weight.to(hidden.scalar_type());
  const std::int64_t count = hidden.size(0);
  LossParts parts;
  if (wants_hidden) parts.d_hidden = torch::empty_like(hidden);
  if (wants_weight) parts.d_weight = torch::zeros_like(weight);
  std::vector<Tensor> losses;
  for (std::int64_t begin = 0; begin < count; begin += chunk) {
    const std::int64_t rows = std::min(chunk, count - begin);
    const Tensor states = hidden.narrow(0, begin, rows);
    Tensor logits = multiply_transposed(states, cast_weight).to(sum_type);
    losses.push_back(cross_entropy_rows(logits, supervised.labels.narrow(0, begin, rows),
                                        wants_hidden || wants_weight));
    if (supervised.weights.defined()) {
      const Tensor weights = supervised.weights.narrow(0, begin, rows).to(sum_type);
      losses.back() = losses.back() * weights;
      if (wants_hidden || wants_weight) logits.mul_(weights.unsqueeze(1));
    }
    const Tensor d_logits = logits.to(hidden.scalar_type());
    if (wants_hidden)
      parts.d_hidden.narrow(0, begin, rows).copy_(multiply_transposed(d_logits, cast_weight.t()));
    if (wants_weight) add_weight_gradient(d_logits, states, parts.d_weight);
  }
  // In fp64, so that the sum does not depend on the size of a chunk beyond the last digit.
  parts.sum = losses.empty() ? torch::zeros({}, hidden.options().dtype(sum_type))
                             : torch::cat(losses).sum(torch::kDouble).to(sum_type);
  return parts;
}

struct TokenLoss : torch::autograd::Function<TokenLoss> {
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                        const Tensor& positions, const Tensor& labels,
                        const std::optional<Tensor>& weights, bool wants_hidden, bool wants_weight,
                        std::int64_t chunk) {
    LossParts parts = loss_in_chunks(hidden.index_select(0, positions), weight,
                                     {positions, labels, weights.value_or(Tensor())}, wants_hidden,
                                     wants_weight, chunk);
    context->saved_data["positions"] = positions;
    context->saved_data["taken"] = false;
    context->saved_data["tokens"] = hidden.size(0);
    if (wants_hidden) context->saved_data["d_hidden"] = std::move(parts.d_hidden);
    if (wants_weight) context->saved_data["d_weight"] = std::move(parts.d_weight);
    return parts.sum;
  }

  // Returns the gradients, scaled in place: they exist for one backward only.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor& scale = gradients[0];
    if (std::exchange(context->saved_data["taken"], true).toBool())
      throw InternalError("a token loss supports one backward only");
    const auto take = [&](const char* name) {
      const auto found = context->saved_data.find(name);
      if (found == context->saved_data.end()) return Tensor();
      Tensor gradient = found->second.toTensor();
      context->saved_data.erase(found);
      const bool is_one = scale.device().is_cpu() && scale.item<double>() == 1;
      return is_one ? gradient : gradient.mul_(scale.to(gradient.scalar_type()));
    };
    const Tensor d_rows = take("d_hidden");
    Tensor d_hidden;
    if (d_rows.defined()) {
      d_hidden =
          torch::zeros({context->saved_data["tokens"].toInt(), d_rows.size(1)}, d_rows.options());
      d_hidden.index_copy_(0, context->saved_data["positions"].toTensor(), d_rows);
    }
    return {d_hidden, take("d_weight"), {}, {}, {}, {}, {}, {}};
  }
};

}  // namespace

SupervisedPositions supervised_positions(const Tensor& labels, const RowOffsets& rows,
                                         std::int64_t vocabulary_size,
                                         std::span<const double> row_weights) {
  ODB_CHECK_EQ(labels.size(0), rows.tokens());
  ODB_CHECK(row_weights.empty() || static_cast<std::int64_t>(row_weights.size()) == rows.rows(),
            "{} weights for {} rows", row_weights.size(), rows.rows());
  const Tensor whole = labels.contiguous();
  const auto* label = whole.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> positions, targets;
  std::vector<float> weights;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    for (std::int64_t i = rows.begin(row) + 1; i < rows.end(row); ++i) {
      if (label[i] == kIgnoreIndex) continue;
      if (label[i] < 0 || label[i] >= vocabulary_size)
        throw DataError(
            "row {} of a batch, token {}: found label {}, expected one below the model's {} ids; "
            "the tokenizer is not the model's",
            row, i - rows.begin(row), label[i], vocabulary_size);
      positions.push_back(i - 1);
      targets.push_back(label[i]);
      if (!row_weights.empty()) weights.push_back(static_cast<float>(at(row_weights, row)));
    }
  }
  return {torch::tensor(positions, torch::kLong), torch::tensor(targets, torch::kLong),
          row_weights.empty() ? Tensor() : torch::tensor(weights, torch::kFloat)};
}

Tensor token_loss(const Tensor& hidden, const Tensor& weight, const SupervisedPositions& supervised,
                  const TokenLossOptions& options) {
  const bool gradients = torch::GradMode::is_enabled();
  return TokenLoss::apply(hidden, weight, supervised.positions.to(hidden.device()),
                          supervised.labels.to(hidden.device()),
                          supervised.weights.defined()
                              ? std::optional(supervised.weights.to(hidden.device()))
                              : std::nullopt,
                          gradients && hidden.requires_grad(), gradients && weight.requires_grad(),
                          options.chunk_positions.value_or(loss_chunk_positions(weight.size(0))));
}

}  // namespace odb
