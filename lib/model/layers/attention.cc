#include "model/layers/attention.h"

#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/autograd.h>

#include "base/error.h"
#include "base/index.h"
#include "model/cpu/attention_kernel.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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

// A key head of a row with its query heads: what one thread works on.
struct HeadOfRow {
  std::int64_t row = 0;
  std::int64_t key_value_head = 0;
};

// Calls `work(place of the row's first value by head count, shape, head, workspace)` for every key
// head of every row, in parallel.
template <typename Work>
void for_heads(const RowOffsets& rows, const attention::Shape& heads, const Work& work) {
  std::vector<HeadOfRow> tasks;
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    for (std::int64_t head = 0; head < heads.key_value_heads; ++head)
      if (rows.length(row) > 0) tasks.push_back({row, head});
  at::parallel_for(0, static_cast<std::int64_t>(tasks.size()), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     attention::Shape longest = heads;
                     longest.length = rows.longest();
                     const Tensor memory = torch::empty({attention::workspace_size(longest)});
                     auto* const workspace = memory.mutable_data_ptr<float>();
                     for (std::int64_t i = begin; i < end; ++i) {
                       const auto [row, head] = at(tasks, i);
                       attention::Shape shape = heads;
                       shape.length = rows.length(row);
                       work(rows.begin(row), shape, head, workspace);
                     }
                   });
}

// Where the rows of a batch lie, and by which instructions they are worked on; lives until
// backward.
struct AttentionWork : torch::CustomClassHolder {
  RowOffsets rows;
  attention::Instructions instructions;
};

struct RowAttention : torch::autograd::Function<RowAttention> {
  static Tensor forward(AutogradContext* context, const Tensor& queries, const Tensor& keys,
                        const Tensor& values, const c10::intrusive_ptr<AttentionWork>& work) {
    const Tensor q = queries.contiguous(), k = keys.contiguous(), v = values.contiguous();
    const Tensor out = torch::empty_like(q);
    const Tensor logsumexp = torch::empty({q.size(0), q.size(1)}, q.options());
    const attention::Shape heads = shape_of(q, k);
    for_heads(work->rows, heads,
              [&](std::int64_t token, const attention::Shape& shape, std::int64_t head,
                  float* workspace) {
                attention::forward(work->instructions, inputs_at(q, k, v, token), shape, head,
                                   out.mutable_data_ptr<float>() + token * q.stride(0),
                                   logsumexp.mutable_data_ptr<float>() + token * q.size(1),
                                   workspace);
              });
    context->save_for_backward({q, k, v, out, logsumexp});
    context->saved_data["work"] = c10::IValue::make_capsule(work);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["work"].toCapsule();
    const auto& work = static_cast<const AttentionWork&>(*capsule);
    const variable_list saved = context->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3];
    const Tensor& logsumexp = saved[4];
    const Tensor d_out = gradients[0].contiguous();
    const Tensor d_q = torch::empty_like(q), d_k = torch::empty_like(k), d_v = torch::empty_like(v);
    for_heads(work.rows, shape_of(q, k),
              [&](std::int64_t token, const attention::Shape& shape, std::int64_t head,
                  float* workspace) {
                const std::int64_t query = token * q.stride(0);
                const std::int64_t key = token * k.stride(0);
                attention::backward(
                    work.instructions, inputs_at(q, k, v, token),
                    {.out = out.const_data_ptr<float>() + query,
                     .logsumexp = logsumexp.const_data_ptr<float>() + token * q.size(1),
                     .d_out = d_out.const_data_ptr<float>() + query},
                    shape, head,
                    {.queries = d_q.mutable_data_ptr<float>() + query,
                     .keys = d_k.mutable_data_ptr<float>() + key,
                     .values = d_v.mutable_data_ptr<float>() + key},
                    workspace);
              });
    return {d_q, d_k, d_v, Tensor()};
  }

 private:
  static attention::Shape shape_of(const Tensor& queries, const Tensor& keys) {
    return {.length = 0,
            .heads = queries.size(1),
            .key_value_heads = keys.size(1),
            .head_size = queries.size(2)};
  }
  static attention::Inputs inputs_at(const Tensor& queries, const Tensor& keys,
                                     const Tensor& values, std::int64_t token) {
    return {.queries = queries.const_data_ptr<float>() + token * queries.stride(0),
            .keys = keys.const_data_ptr<float>() + token * keys.stride(0),
            .values = values.const_data_ptr<float>() + token * values.stride(0)};
  }
};

// Empty where the kernels do not apply.
std::optional<attention::Instructions> kernels_for(const Tensor& queries) {
  const auto type = queries.scalar_type();
  if (type != torch::kFloat && type != torch::kBFloat16) return std::nullopt;
  return attention::instructions_for(queries.size(2));
}

Tensor attend_on_cpu(const AttentionInputs& inputs, const RowOffsets& rows) {
  const auto instructions = kernels_for(inputs.queries);
  if (!instructions) return attend_rows(inputs, rows);
  auto work = c10::make_intrusive<AttentionWork>();
  work->rows = rows;
  work->instructions = *instructions;
  const auto to_fp32 = [](const Tensor& heads) { return heads.to(torch::kFloat); };
  return RowAttention::apply(to_fp32(inputs.queries), to_fp32(inputs.keys), to_fp32(inputs.values),
                             work)
      .flatten(1)
      .to(inputs.queries.scalar_type());
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
  // The memory-efficient kernel needs one key head for each query head.
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
  return inputs.queries.is_cuda() ? attend_varied_lengths(inputs, rows)
                                  : attend_on_cpu(inputs, rows);
}

}  // namespace odb
