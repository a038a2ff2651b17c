// Walks the rows of CPU tensors for the kernels of row_kernels.h: fp32 rows in place, bf16 rows
// through fp32 buffers. Not a public interface of the module.
#pragma once

#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "model/cpu/row_kernels.h"

namespace odb {

// Whether the row kernels apply: a CPU tensor of fp32 or bf16. Others take LibTorch's operators.
inline bool has_row_kernels(const torch::Tensor& x) {
  return x.device().is_cpu() &&
         (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kBFloat16);
}

// Calls `walk` with a null pointer of the tensor's element type.
template <typename Walk>
void with_element_type(const torch::Tensor& x, const Walk& walk) {
  if (x.scalar_type() == torch::kFloat)
    walk(static_cast<float*>(nullptr));
  else
    walk(static_cast<c10::BFloat16*>(nullptr));
}

// An input row as fp32: the row itself, or a widened copy in `buffer`.
inline const float* load_row(const float* row, std::vector<float>&, std::int64_t) {
  return row;
}
inline const float* load_row(const c10::BFloat16* row, std::vector<float>& buffer,
                             std::int64_t count) {
  buffer.resize(static_cast<std::size_t>(count));
  row::bf16_to_fp32(row, buffer.data(), count);
  return buffer.data();
}

// Where to write an output row as fp32; store_row stores it in the tensor's type.
inline float* output_row(float* row, std::vector<float>&, std::int64_t) {
  return row;
}
inline float* output_row(c10::BFloat16*, std::vector<float>& buffer, std::int64_t count) {
  buffer.resize(static_cast<std::size_t>(count));
  return buffer.data();
}
inline void store_row(const float*, float*, std::int64_t) {}
inline void store_row(const float* values, c10::BFloat16* row, std::int64_t count) {
  row::fp32_to_bf16(values, row, count);
}

// Calls `work(begin, end, part)` for ranges of 0..rows-1 in parallel; `part` < row_parts() numbers
// the thread, for sums that are added up afterwards in order.
inline std::int64_t row_parts() {
  return at::get_num_threads();
}
template <typename Work>
void for_rows(std::int64_t rows, std::int64_t values_per_row, const Work& work) {
  constexpr std::int64_t kGrain = 32768;  // minimum number of values for a thread
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, values_per_row));
  at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    work(begin, end, static_cast<std::int64_t>(at::get_thread_num()));
  });
}

}  // namespace odb
