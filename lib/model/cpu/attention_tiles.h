// Products of small matrices, and the sums and exponentials around them, on vectors of 16 fp32
// values: the inner loops of the attention kernel.
//
// A product is computed in tiles of kRows x (16 kVectors) results that stay in registers while the
// loop runs over the depth, so that each element that is loaded serves several multiplications.
// AVX-512 has 32 registers: 6 x 4 for the tile leaves 8 for the operands. AVX2 has 16, and a vector
// takes two of them: 6 x 1 takes 12. Everything is inlined into functions that are compiled for one
// of the two instruction sets (attention_kernel.cc).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__)
#define ODB_WITH_VECTORS 1
#else
#define ODB_WITH_VECTORS 0
#endif

#if ODB_WITH_VECTORS

#define ODB_INLINE [[gnu::always_inline]] inline

namespace odb::attention {

constexpr std::int64_t kLanes = 16;
using Vector [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
using Bits [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = std::int32_t;

// How many rows and vectors of a product a processor keeps in registers.
struct Avx512 {  // 32 registers of 64 bytes
  static constexpr int kVectors = 4;
  static constexpr int kRows = 6;
};
struct Avx2 {  // 16 registers of 32 bytes
  static constexpr int kVectors = 1;
  static constexpr int kRows = 6;
};

ODB_INLINE Vector& at(float* place) {
  return *reinterpret_cast<Vector*>(place);
}
ODB_INLINE const Vector& at(const float* place) {
  return *reinterpret_cast<const Vector*>(place);
}

// A matrix whose element (i, j) lies at data[i * row + j * column].
struct Left {
  const float* data;
  std::int64_t row;
  std::int64_t column;
};

// c[kRows, 16 kVectors] = (or +=) a x b over `depth`.
template <int kRows, int kVectors, bool kAdd>
ODB_INLINE void product_tile(const Left& a, const float* b, std::int64_t b_row, float* c,
                             std::int64_t c_row, std::int64_t depth) {
  Vector sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = kAdd ? at(c + i * c_row + j * kLanes) : Vector{};
  const float* left = a.data;
  for (std::int64_t k = 0; k < depth; ++k, left += a.column, b += b_row) {
    Vector right[kVectors];
    for (int j = 0; j < kVectors; ++j)
      right[j] = at(b + j * kLanes);
    for (int i = 0; i < kRows; ++i) {
      const float factor = left[i * a.row];
      for (int j = 0; j < kVectors; ++j)
        sums[i][j] += factor * right[j];
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kVectors; ++j)
      at(c + i * c_row + j * kLanes) = sums[i][j];
}

// The columns of a product that are computed together, all rows.
template <int kRows, int kVectors, bool kAdd>
ODB_INLINE void product_panel(Left a, const float* b, std::int64_t b_row, float* c,
                              std::int64_t c_row, std::int64_t rows, std::int64_t depth) {
  std::int64_t i = 0;
  for (; i + kRows <= rows; i += kRows, a.data += kRows * a.row, c += kRows * c_row)
    product_tile<kRows, kVectors, kAdd>(a, b, b_row, c, c_row, depth);
  for (; i < rows; ++i, a.data += a.row, c += c_row)
    product_tile<1, kVectors, kAdd>(a, b, b_row, c, c_row, depth);
}

// c[rows, columns] = (or +=) a x b; columns is a multiple of 16.
template <typename Machine, bool kAdd>
ODB_INLINE void product(const Left& a, const float* b, std::int64_t b_row, float* c,
                        std::int64_t c_row, std::int64_t rows, std::int64_t columns,
                        std::int64_t depth) {
  constexpr int kVectors = Machine::kVectors;
  constexpr std::int64_t kWidth = kVectors * kLanes;
  std::int64_t j = 0;
  for (; j + kWidth <= columns; j += kWidth)
    product_panel<Machine::kRows, kVectors, kAdd>(a, b + j, b_row, c + j, c_row, rows, depth);
  if constexpr (kVectors > 1) {
    for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
      product_panel<2 * Machine::kRows, 2, kAdd>(a, b + j, b_row, c + j, c_row, rows, depth);
    for (; j < columns; j += kLanes)
      product_panel<2 * Machine::kRows, 1, kAdd>(a, b + j, b_row, c + j, c_row, rows, depth);
  }
}

// e^x, at most 2 units in the last place off; see row_kernels.cc.
ODB_INLINE Vector exponential(Vector x) {
  constexpr float kRounder = 12582912.0f;
  x = x < -87.3f ? Vector{} - 87.3f : x;
  x = x > 88.3f ? Vector{} + 88.3f : x;
  const Vector shifted = x * 1.44269504f + kRounder;
  const Vector power = shifted - kRounder;
  const Vector rest = (x - power * 0.693359375f) - power * -2.12194440e-4f;
  Vector sum = rest * 1.9875691500e-4f + 1.3981999507e-3f;
  sum = sum * rest + 8.3334519073e-3f;
  sum = sum * rest + 4.1665795894e-2f;
  sum = sum * rest + 1.6666665459e-1f;
  sum = sum * rest + 5.0000001201e-1f;
  sum = sum * rest * rest + rest + 1.0f;
  const Bits bits = ((Bits)shifted - 0x4B400000 + 127) << 23;
  return sum * (Vector)bits;
}

ODB_INLINE float total(const Vector& vector) {
  float values[kLanes];
  std::memcpy(values, &vector, sizeof values);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      values[i] += values[i + half];
  return values[0];
}

ODB_INLINE float dot(const float* a, const float* b, std::int64_t count) {
  Vector sum = {};
  for (std::int64_t i = 0; i < count; i += kLanes)
    sum += at(a + i) * at(b + i);
  return total(sum);
}

ODB_INLINE float greatest(const Vector& vector) {
  float values[kLanes];
  std::memcpy(values, &vector, sizeof values);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      values[i] = values[i] > values[i + half] ? values[i] : values[i + half];
  return values[0];
}

// True in the lanes before `count`.
ODB_INLINE Bits first_lanes(std::int64_t count) {
  const Bits lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return lanes < static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 0, kLanes));
}

}  // namespace odb::attention

#endif
