// Output head and cross entropy in one: the logits of a batch never exist as a whole.
//
// Only supervised positions reach the head, a chunk at a time. Where gradients are needed they are
// computed at once, while a chunk's logits exist, so nothing of the size vocabulary x tokens is
// kept. Memory beside the results: one chunk of logits.
#pragma once

#include <optional>
#include <span>

#include <torch/types.h>

#include "model/layers/rows.h"

namespace odb {

// Which hidden states predict which labels: the state at position i predicts the label of position
// i + 1 of the same row. Positions whose successor is ignored, and last positions, are left out.
struct SupervisedPositions {
  torch::Tensor positions;     // int64 [count], ascending
  torch::Tensor labels;        // int64 [count]
  torch::Tensor weights = {};  // fp32 [count], how much each counts; undefined: all 1

  std::int64_t count() const { return positions.size(0); }
};

// labels: int64 on the CPU, [tokens]: the token itself, or -100. Labels must be below
// `vocabulary_size` (DataError: a tokenizer that does not fit the model). `row_weights`: of every
// label of a row, one a row; empty: all 1.
SupervisedPositions supervised_positions(const torch::Tensor& labels, const RowOffsets& rows,
                                         std::int64_t vocabulary_size,
                                         std::span<const double> row_weights = {});

struct TokenLossOptions {
  // The number of positions whose logits are computed at a time, at least 1; none: loss_chunk.h.
  std::optional<std::int64_t> chunk_positions;
};

// Sum over positions of weights x -log softmax(hidden[position] x weight^T)[label], 0-d, fp32 (fp64
// for fp64 inputs). hidden: [tokens, size]; weight: [vocabulary, size], fp32 where hidden is bf16.
// Sums and softmax are fp32 at least. Differentiable once by both. 0 without positions.
torch::Tensor token_loss(const torch::Tensor& hidden, const torch::Tensor& weight,
                         const SupervisedPositions& supervised,
                         const TokenLossOptions& options = {});

}  // namespace odb
