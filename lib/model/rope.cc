#include "model/rope.h"

#include <cmath>

#include <torch/autograd.h>

#include "model/cpu_rows.h"
#include "model/rms_norm.h"
#include "model/rope_frequencies.h"

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
      const float angle =
          static_cast<float>(i / pairs) * frequencies[static_cast<std::size_t>(i % pairs)];
      cosines[i] = static_cast<float>(std::cos(double{angle}) * config.rope.attention_factor);
      sines[i] = static_cast<float>(std::sin(double{angle}) * config.rope.attention_factor);
    }
  });
  return tables;
}

// How the heads lie in a row of qkv.
struct Heads {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t size;

  std::int64_t rotated() const { return queries + keys; }
  std::int64_t all() const { return queries + 2 * keys; }
};

// One head of one token: normed (where there is a weight) and turned.
template <typename T>
float turn_head(const T* from, const float* weight, const float* cosines, const float* sines,
                float epsilon, T* to, std::int64_t size, std::vector<float>& in,
                std::vector<float>& out) {
  const float* values = load_row(from, in, size);
  float* turned = output_row(to, out, size);
  float scale = 1;
  if (weight != nullptr)
    scale = row::rms_norm(values, weight, turned, size, epsilon);
  else
    std::copy(values, values + size, turned);
  row::rotate_in_place(turned, cosines, sines, 1, size);
  store_row(turned, to, size);
  return scale;
}

const float* weight_or_null(const Tensor& weight) {
  return weight.defined() ? weight.const_data_ptr<float>() : nullptr;
}

struct RotateHeads : torch::autograd::Function<RotateHeads> {
  static variable_list forward(AutogradContext* context, const Tensor& qkv_in,
                               const std::optional<Tensor>& query_weight,
                               const std::optional<Tensor>& key_weight, const Tensor& cosines,
                               const Tensor& sines, std::int64_t queries, std::int64_t keys,
                               double epsilon) {
    const Tensor qkv = qkv_in.contiguous();
    const Tensor query_norm = query_weight.value_or(Tensor());
    const Tensor key_norm = key_weight.value_or(Tensor());
    const std::int64_t tokens = qkv.size(0);
    const Heads heads{queries, keys, qkv.size(1) / (queries + 2 * keys)};
    const Tensor q = torch::empty({tokens, queries, heads.size}, qkv.options());
    const Tensor k = torch::empty({tokens, keys, heads.size}, qkv.options());
    const Tensor v = torch::empty({tokens, keys, heads.size}, qkv.options());
    const Tensor scales = torch::empty({tokens, heads.rotated()}, torch::kFloat);
    with_element_type(qkv, [&]<typename T>(T*) {
      const T* from = qkv.const_data_ptr<T>();
      T* to_q = q.mutable_data_ptr<T>();
      T* to_k = k.mutable_data_ptr<T>();
      T* to_v = v.mutable_data_ptr<T>();
      auto* scale = scales.mutable_data_ptr<float>();
      const auto* cosine = cosines.const_data_ptr<float>();
      const auto* sine = sines.const_data_ptr<float>();
      const float* weights[] = {weight_or_null(query_norm), weight_or_null(key_norm)};
      const std::int64_t size = heads.size;
      for_rows(tokens, heads.all() * size, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        std::vector<float> in, out;
        for (std::int64_t t = begin; t < end; ++t) {
          const T* row = from + t * heads.all() * size;
          for (std::int64_t h = 0; h < heads.rotated(); ++h) {
            const bool is_key = h >= queries;
            T* to =
                is_key ? to_k + (t * keys + h - queries) * size : to_q + (t * queries + h) * size;
            scale[t * heads.rotated() + h] =
                turn_head(row + h * size, weights[is_key], cosine + t * size / 2,
                          sine + t * size / 2, static_cast<float>(epsilon), to, size, in, out);
          }
          const T* value = row + heads.rotated() * size;
          std::copy(value, value + keys * size, to_v + t * keys * size);
        }
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
    const std::int64_t size = heads.size;
    const Tensor d_q = gradients[0].contiguous();
    const Tensor d_k = gradients[1].contiguous();
    const Tensor d_v = gradients[2].contiguous();
    const Tensor d_qkv = torch::empty_like(qkv);
    const Tensor parts = torch::zeros({row_parts(), 2, size}, torch::kFloat);
    with_element_type(qkv, [&]<typename T>(T*) {
      const T* from = qkv.const_data_ptr<T>();
      const T* from_q = d_q.const_data_ptr<T>();
      const T* from_k = d_k.const_data_ptr<T>();
      const T* from_v = d_v.const_data_ptr<T>();
      T* to = d_qkv.mutable_data_ptr<T>();
      auto* sums = parts.mutable_data_ptr<float>();
      const auto* scale = saved[5].const_data_ptr<float>();
      const auto* cosine = saved[3].const_data_ptr<float>();
      const auto* sine = saved[4].const_data_ptr<float>();
      const float* weights[] = {weight_or_null(saved[1]), weight_or_null(saved[2])};
      for_rows(qkv.size(0), heads.all() * size,
               [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
                 std::vector<float> in, out, turned(static_cast<std::size_t>(size));
                 for (std::int64_t t = begin; t < end; ++t) {
                   const std::int64_t row = t * heads.all() * size;
                   for (std::int64_t h = 0; h < heads.rotated(); ++h) {
                     const bool is_key = h >= queries;
                     const T* back = is_key ? from_k + (t * keys + h - queries) * size
                                            : from_q + (t * queries + h) * size;
                     const float* values = load_row(back, in, size);
                     std::copy(values, values + size, turned.begin());
                     row::rotate_in_place(turned.data(), cosine + t * size / 2, sine + t * size / 2,
                                          -1, size);
                     T* place = to + row + h * size;
                     if (weights[is_key] == nullptr) {
                       float* plain = output_row(place, out, size);
                       std::copy(turned.begin(), turned.end(), plain);
                       store_row(plain, place, size);
                       continue;
                     }
                     float* dx = output_row(place, out, size);
                     row::rms_norm_backward(load_row(from + row + h * size, in, size),
                                            weights[is_key], turned.data(),
                                            scale[t * heads.rotated() + h], dx,
                                            sums + (part * 2 + is_key) * size, size);
                     store_row(dx, place, size);
                   }
                   const T* value = from_v + t * keys * size;
                   std::copy(value, value + keys * size, to + row + heads.rotated() * size);
                 }
               });
    });
    const Tensor d_weights = parts.sum(0);
    return {d_qkv,
            saved[1].defined() ? d_weights[0] : Tensor(),
            saved[2].defined() ? d_weights[1] : Tensor(),
            {},
            {},
            {},
            {},
            {}};
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
