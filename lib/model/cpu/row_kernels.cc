#include "model/cpu/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__)
#define ODB_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ODB_VECTORISED
#endif

namespace odb::row {
namespace {

// e^x by splitting off a power of two and a polynomial of degree 6 on the rest (|rest| <= ln(2)/2):
// at most 2 units in the last place off. Written without branches so that loops over it vectorize.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  x = std::min(std::max(x, -87.3f), 88.3f);
  const float shifted = x * kLog2E + kRounder;
  const float power = shifted - kRounder;
  const float rest = (x - power * kLn2High) - power * kLn2Low;
  float sum = 1.9875691500e-4f;
  sum = sum * rest + 1.3981999507e-3f;
  sum = sum * rest + 8.3334519073e-3f;
  sum = sum * rest + 4.1665795894e-2f;
  sum = sum * rest + 1.6666665459e-1f;
  sum = sum * rest + 5.0000001201e-1f;
  sum = sum * rest * rest + rest + 1.0f;
  const auto bits =
      (std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder) + 127) << 23;
  return sum * std::bit_cast<float>(bits);
}

[[gnu::always_inline]] inline float sigmoid(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

// Sums of long rows are added to an fp64 total once per this many values.
constexpr std::int64_t kBlock = 2048;

ODB_VECTORISED float greatest(const float* values, std::int64_t count) {
  float most = values[0];
#pragma omp simd reduction(max : most)
  for (std::int64_t i = 0; i < count; ++i)
    most = values[i] > most ? values[i] : most;
  return most;
}

ODB_VECTORISED float sum_of_exponentials(const float* values, float shift, std::int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i)
    sum += exponential(values[i] - shift);
  return sum;
}

ODB_VECTORISED float exponentials_in_place(float* values, float shift, std::int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = exponential(values[i] - shift);
    sum += values[i];
  }
  return sum;
}

ODB_VECTORISED void scale_in_place(float* values, float factor, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    values[i] *= factor;
}

}  // namespace

ODB_VECTORISED void bf16_to_fp32(const c10::BFloat16* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i].x) << 16);
}

ODB_VECTORISED void fp32_to_bf16(const float* from, c10::BFloat16* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    to[i].x = static_cast<std::uint16_t>(is_nan ? 0x7fc0 : rounded);
  }
}

ODB_VECTORISED void add(const float* a, const float* b, float* sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    sum[i] = a[i] + b[i];
}

ODB_VECTORISED float rms_norm(const float* x, const float* weight, float* y, std::int64_t count,
                              float epsilon) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t i = 0; i < count; ++i)
    squares += x[i] * x[i];
  const float scale = 1.0f / std::sqrt(squares / static_cast<float>(count) + epsilon);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = x[i] * scale * weight[i];
  return scale;
}

ODB_VECTORISED void rms_norm_backward(const float* x, const float* weight, const float* dy,
                                      float scale, float* dx, float* d_weight, std::int64_t count) {
  float along = 0;  // the part of the gradient along x, which the norm takes out
#pragma omp simd reduction(+ : along)
  for (std::int64_t i = 0; i < count; ++i)
    along += dy[i] * weight[i] * x[i];
  const float back = along * scale * scale * scale / static_cast<float>(count);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    d_weight[i] += dy[i] * x[i] * scale;
    dx[i] = dy[i] * weight[i] * scale - x[i] * back;
  }
}

ODB_VECTORISED void rotate_in_place(float* head, const float* cosines, const float* sines,
                                    float direction, std::int64_t count) {
  float* const other = head + count / 2;
#pragma omp simd
  for (std::int64_t i = 0; i < count / 2; ++i) {
    const float first = head[i];
    const float second = other[i];
    const float sine = sines[i] * direction;
    head[i] = first * cosines[i] - second * sine;
    other[i] = second * cosines[i] + first * sine;
  }
}

ODB_VECTORISED void swiglu(const float* gate, const float* up, float* y, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

ODB_VECTORISED void swiglu_backward(const float* gate, const float* up, const float* dy,
                                    float* d_gate, float* d_up, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float open = sigmoid(gate[i]);
    const float silu = gate[i] * open;
    d_up[i] = dy[i] * silu;
    d_gate[i] = dy[i] * up[i] * (open + silu * (1.0f - open));
  }
}

float cross_entropy(const float* logits, std::int64_t label, std::int64_t count) {
  const float most = greatest(logits, count);
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += kBlock)
    sum += sum_of_exponentials(logits + begin, most, std::min(kBlock, count - begin));
  return static_cast<float>(std::log(sum) + most - logits[label]);
}

float cross_entropy_in_place(float* logits, std::int64_t label, std::int64_t count) {
  const float most = greatest(logits, count);
  const float label_logit = logits[label];
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += kBlock)
    sum += exponentials_in_place(logits + begin, most, std::min(kBlock, count - begin));
  scale_in_place(logits, static_cast<float>(1 / sum), count);
  logits[label] -= 1;
  return static_cast<float>(std::log(sum) + most - label_logit);
}

}  // namespace odb::row
