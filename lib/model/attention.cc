#include "model/attention.h"

#include <cmath>

#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "base/error.h"

namespace odb {
namespace {

using torch::Tensor;

// heads: [tokens of the run, heads, size] -> [rows, heads, length, size], a view.
Tensor by_row(const Tensor& heads, const RowRun& run) {
  return heads.view({run.rows, run.length, heads.size(1), heads.size(2)}).transpose(1, 2);
}

Tensor attend_run(const Tensor& queries, const Tensor& keys, const Tensor& values,
                  const RowRun& run) {
  const bool grouped = queries.size(1) != keys.size(1);
  const Tensor out =
      at::scaled_dot_product_attention(by_row(queries, run), by_row(keys, run), by_row(values, run),
                                       {}, 0.0, /*is_causal=*/true, std::nullopt, grouped);
  return out.transpose(1, 2).reshape({run.tokens(), queries.size(1) * queries.size(2)});
}

Tensor attend_rows(const AttentionInputs& inputs, const RowOffsets& rows) {
  const std::vector<RowRun> runs = rows.runs();
  if (runs.size() == 1) return attend_run(inputs.queries, inputs.keys, inputs.values, runs.front());
  std::vector<std::int64_t> lengths;
  for (const RowRun& run : runs)
    lengths.push_back(run.tokens());
  // Split, not slices: the gradient of a split is one concatenation.
  const std::vector<Tensor> queries = inputs.queries.split_with_sizes(lengths);
  const std::vector<Tensor> keys = inputs.keys.split_with_sizes(lengths);
  const std::vector<Tensor> values = inputs.values.split_with_sizes(lengths);
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < runs.size(); ++i)
    out.push_back(attend_run(queries[i], keys[i], values[i], runs[i]));
  return torch::cat(out);
}

Tensor attend_varied_lengths(const AttentionInputs& inputs, const RowOffsets& rows) {
  const Tensor& queries = inputs.queries;
  const Tensor offsets =
      torch::tensor(rows.offsets(), torch::kLong).to(queries.device(), torch::kInt);
  const std::int64_t longest = rows.longest();
  const std::optional<double> scale = 1 / std::sqrt(static_cast<double>(queries.size(2)));
  if (queries.scalar_type() == torch::kBFloat16 || queries.scalar_type() == torch::kHalf)
    return std::get<0>(at::_flash_attention_forward(queries, inputs.keys, inputs.values, offsets,
                                                    offsets, longest, longest, 0.0,
                                                    /*is_causal=*/true, false, scale))
        .flatten(1);
  // The memory-efficient kernel wants one key head for each query head.
  const std::int64_t group = queries.size(1) / inputs.keys.size(1);
  constexpr std::int64_t kCausalFromTopLeft = 1;
  return std::get<0>(at::_efficient_attention_forward(
                         queries.unsqueeze(0), inputs.keys.repeat_interleave(group, 1).unsqueeze(0),
                         inputs.values.repeat_interleave(group, 1).unsqueeze(0), {}, offsets,
                         offsets, longest, longest, 0.0, kCausalFromTopLeft,
                         /*compute_log_sumexp=*/true, scale))
      .squeeze(0)
      .flatten(1);
}

}  // namespace

Tensor attend(const AttentionInputs& inputs, const RowOffsets& rows) {
  ODB_CHECK_EQ(inputs.queries.size(0), rows.tokens());
  return inputs.queries.is_cuda() ? attend_varied_lengths(inputs, rows) : attend_rows(inputs, rows);
}

}  // namespace odb
