#include "model/layers/rope.h"

#include <cmath>

#include <torch/autograd.h>

#include "base/index.h"
#include "model/cpu/cpu_rows.h"
#include "model/layers/rms_norm.h"
#include "model/layers/rope_frequencies.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Positions 0 .. count-1 as a row of `row_length` sees them. Angles are rounded to fp32 before
// their cosine is taken, as the published models were trained with.
RotaryTables make_tables(const ModelConfig& config, std::int64_t row_length, std::int64_t count) {
  const std::vector<float> frequencies = rope_frequencies(config, row_length);
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  RotaryTables tables{torch::empty({count, pairs}), torch::empty({count, pairs})};
  auto* cosines = tables.cosines.mutable_data_ptr<float>();
  auto* sines = tables.sines.mutable_data_ptr<float>();
  for_rows(count, 32 * pairs, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    for (std::int64_t i = begin * pairs; i < end * pairs; ++i) {
      const float angle = static_cast<float>(i / pairs) * at(frequencies, i % pairs);
      cosines[i] = static_cast<float>(std::cos(double{angle}) * config.rope.attention_factor);
      sines[i] = static_cast<float>(std::sin(double{angle}) * config.rope.attention_factor);
    }
  });
  return tables;
}

// How the heads lie in a row of qkv: queries, keys, values.
struct Heads {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t size;

  std::int64_t rotated() const { return queries + keys; }
  std::int64_t all() const { return queries + 2 * keys; }
  std::int64_t row() const { return all() * size; }
};

// Queries, keys and values as separate tensors, each [tokens, heads, size].
template <typename T>
struct SplitHeads {
  T* queries;
  T* keys;
  T* values;
  Heads heads;

  // Queries come first, then keys.
  T* rotated(std::int64_t token, std::int64_t head) const {
    return head < heads.queries ? queries + (token * heads.queries + head) * heads.size
                                : keys + (token * heads.keys + head - heads.queries) * heads.size;
  }
  T* value_row(std::int64_t token) const { return values + token * heads.keys * heads.size; }
};

// The inputs for rotating a head, beside the head.
struct Turning {
  const float* weights[2];  // of query and key norm; null: no norm
  const float* cosines;     // [tokens, size / 2]
  const float* sines;
  float* scales;  // [tokens, rotated heads]: 1 / rms, written forward, read backward
  float epsilon;
};

template <typename T>
void rotate_tokens(const T* qkv, const SplitHeads<T>& out, const Turning& turning,
                   std::int64_t begin, std::int64_t end) {
  const Heads& heads = out.heads;
  const std::int64_t size = heads.size;
  std::vector<float> in_buffer, out_buffer;
  for (std::int64_t token = begin; token < end; ++token) {
    const T* from = qkv + token * heads.row();
    const std::int64_t angle = token * size / 2;
    for (std::int64_t head = 0; head < heads.rotated(); ++head) {
      const float* weight = turning.weights[head >= heads.queries];
      const float* values = load_row(from + head * size, in_buffer, size);
      T* const to = out.rotated(token, head);
      float* const turned = output_row(to, out_buffer, size);
      if (weight != nullptr)
        turning.scales[token * heads.rotated() + head] =
            row::rms_norm(values, weight, turned, size, turning.epsilon);
      else
        std::copy(values, values + size, turned);
      row::rotate_in_place(turned, turning.cosines + angle, turning.sines + angle, 1, size);
      store_row(turned, to, size);
    }
    const T* values = from + heads.rotated() * size;
    std::copy(values, values + heads.keys * size, out.value_row(token));
  }
}

// `d_weights`: [2, size], added to.
template <typename T>
void rotate_tokens_back(const T* qkv, const SplitHeads<const T>& gradients, const Turning& turning,
                        T* d_qkv, float* d_weights, std::int64_t begin, std::int64_t end) {
  const Heads& heads = gradients.heads;
  const std::int64_t size = heads.size;
  std::vector<float> in_buffer, out_buffer, turned(static_cast<std::size_t>(size));
  for (std::int64_t token = begin; token < end; ++token) {
    const std::int64_t row = token * heads.row();
    const std::int64_t angle = token * size / 2;
    for (std::int64_t head = 0; head < heads.rotated(); ++head) {
      const std::int64_t kind = head >= heads.queries;
      const float* back = load_row(gradients.rotated(token, head), in_buffer, size);
      std::copy(back, back + size, turned.begin());
      row::rotate_in_place(turned.data(), turning.cosines + angle, turning.sines + angle, -1, size);
      T* const to = d_qkv + row + head * size;
      float* const dx = output_row(to, out_buffer, size);
      if (turning.weights[kind] != nullptr)
        row::rms_norm_backward(load_row(qkv + row + head * size, in_buffer, size),
                               turning.weights[kind], turned.data(),
                               turning.scales[token * heads.rotated() + head], dx,
                               d_weights + kind * size, size);
      else
        std::copy(turned.begin(), turned.end(), dx);
      store_row(dx, to, size);
    }
    const T* values = gradients.value_row(token);
    std::copy(values, values + heads.keys * size, d_qkv + row + heads.rotated() * size);
  }
}

const float* weight_or_null(const Tensor& weight) {
  return weight.defined() ? weight.const_data_ptr<float>() : nullptr;
}

struct RotateHeads : torch::autograd::Function<RotateHeads> {
  static variable_list forward(AutogradContext* context, const Tensor& fused,
                               const std::optional<Tensor>& query_weight,
                               const std::optional<Tensor>& key_weight, const Tensor& cosines,
                               const Tensor& sines, std::int64_t queries, std::int64_t keys,
                               double epsilon) {
    const Tensor qkv = fused.contiguous();
    const Tensor query_norm = query_weight.value_or(Tensor());
    const Tensor key_norm = key_weight.value_or(Tensor());
    const std::int64_t tokens = qkv.size(0);
    const Heads heads{queries, keys, qkv.size(1) / (queries + 2 * keys)};
    const Tensor q = torch::empty({tokens, queries, heads.size}, qkv.options());
    const Tensor k = torch::empty({tokens, keys, heads.size}, qkv.options());
    const Tensor v = torch::empty({tokens, keys, heads.size}, qkv.options());
    const Tensor scales = torch::empty({tokens, heads.rotated()}, torch::kFloat);
    const Turning turning{{weight_or_null(query_norm), weight_or_null(key_norm)},
                          cosines.const_data_ptr<float>(),
                          sines.const_data_ptr<float>(),
                          scales.mutable_data_ptr<float>(),
                          static_cast<float>(epsilon)};
    with_element_type(qkv, [&]<typename T>(T*) {
      const SplitHeads<T> out{q.mutable_data_ptr<T>(), k.mutable_data_ptr<T>(),
                              v.mutable_data_ptr<T>(), heads};
      for_rows(tokens, heads.row(), [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        rotate_tokens(qkv.const_data_ptr<T>(), out, turning, begin, end);
      });
    });
    context->save_for_backward({qkv, query_norm, key_norm, cosines, sines, scales});
    context->saved_data["queries"] = queries;
    context->saved_data["keys"] = keys;
    return {q, k, v};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& qkv = saved[0];
    const std::int64_t queries = context->saved_data["queries"].toInt();
    const std::int64_t keys = context->saved_data["keys"].toInt();
    const Heads heads{queries, keys, qkv.size(1) / (queries + 2 * keys)};
    const Tensor d_q = gradients[0].contiguous();
    const Tensor d_k = gradients[1].contiguous();
    const Tensor d_v = gradients[2].contiguous();
    const Tensor d_qkv = torch::empty_like(qkv);
    const Tensor parts = torch::zeros({row_parts(), 2, heads.size}, torch::kFloat);
    const Turning turning{{weight_or_null(saved[1]), weight_or_null(saved[2])},
                          saved[3].const_data_ptr<float>(),
                          saved[4].const_data_ptr<float>(),
                          saved[5].mutable_data_ptr<float>(),
                          0};
    with_element_type(qkv, [&]<typename T>(T*) {
      const SplitHeads<const T> back{d_q.const_data_ptr<T>(), d_k.const_data_ptr<T>(),
                                     d_v.const_data_ptr<T>(), heads};
      for_rows(
          qkv.size(0), heads.row(), [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
            rotate_tokens_back(qkv.const_data_ptr<T>(), back, turning, d_qkv.mutable_data_ptr<T>(),
                               parts.mutable_data_ptr<float>() + part * 2 * heads.size, begin, end);
          });
    });
    const Tensor d_weights = parts.sum(0);
    const auto d_weight = [&](std::int64_t kind, const Tensor& weight) {
      return weight.defined() ? d_weights[kind] : Tensor();
    };
    return {d_qkv, d_weight(0, saved[1]), d_weight(1, saved[2]), {}, {}, {}, {}, {}};
  }
};

Tensor composed_rotation(const Tensor& heads, const RotaryTables& tables) {
  const std::vector<Tensor> halves =
      heads.to(torch::promote_types(heads.scalar_type(), torch::kFloat)).chunk(2, -1);
  const Tensor cosines = tables.cosines.unsqueeze(1);
  const Tensor sines = tables.sines.unsqueeze(1);
  return torch::cat(
             {halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines}, -1)
      .to(heads.scalar_type());
}

}  // namespace

RotaryTables RotaryEmbedding::positions(std::int64_t count, torch::Device device) {
  const bool enough = known_.cosines.defined() && known_.cosines.size(0) >= count &&
                      known_.cosines.device() == device;
  if (!enough) {
    std::int64_t room = 1024;
    while (room < count)
      room *= 2;
    const RotaryTables made = make_tables(config_, 0, room);
    known_ = {made.cosines.to(device), made.sines.to(device)};
  }
  return {known_.cosines.narrow(0, 0, count), known_.sines.narrow(0, 0, count)};
}

RotaryTables RotaryEmbedding::of(const RowOffsets& rows, torch::Device device) {
  const torch::NoGradGuard no_gradients;
  std::vector<Tensor> cosines, sines;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const std::int64_t length = rows.length(row);
    RotaryTables tables;
    if (rope_depends_on_length(config_, length)) {
      const RotaryTables own = make_tables(config_, length, length);
      tables = {own.cosines.to(device), own.sines.to(device)};
    } else {
      tables = positions(length, device);
    }
    cosines.push_back(tables.cosines);
    sines.push_back(tables.sines);
  }
  return {torch::cat(cosines), torch::cat(sines)};
}

AttentionInputs rotate_heads(const Tensor& qkv, const Tensor& query_norm, const Tensor& key_norm,
                             const RotaryTables& tables, const ModelConfig& config) {
  if (has_row_kernels(qkv)) {
    const auto if_defined = [](const Tensor& weight) {
      return weight.defined() ? std::optional(weight) : std::nullopt;
    };
    const variable_list out =
        RotateHeads::apply(qkv, if_defined(query_norm), if_defined(key_norm), tables.cosines,
                           tables.sines, config.heads, config.key_value_heads, config.norm_epsilon);
    return {out[0], out[1], out[2]};
  }
  const std::vector<Tensor> parts = qkv.split_with_sizes(
      {config.query_width(), config.key_value_width(), config.key_value_width()}, 1);
  const auto as_heads = [&](const Tensor& part) {
    return part.reshape({part.size(0), -1, config.head_size});
  };
  const auto normed = [&](const Tensor& heads, const Tensor& weight) {
    return weight.defined() ? rms_norm(heads, weight, config.norm_epsilon) : heads;
  };
  return {composed_rotation(normed(as_heads(parts[0]), query_norm), tables),
          composed_rotation(normed(as_heads(parts[1]), key_norm), tables), as_heads(parts[2])};
}

}  // namespace odb
