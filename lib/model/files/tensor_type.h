// Element types of stored tensors, by the names that safetensors files use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace odb {

enum class TensorType {
  f64,
  f32,
  f16,
  bf16,
  i64,
  u64,
  i32,
  u32,
  i16,
  u16,
  i8,
  u8,
  boolean,
  f8_e4m3,
  f8_e5m2
};

std::string_view name(TensorType type);  // "F32", "BF16", ...
std::optional<TensorType> tensor_type_of(std::string_view name);
std::uint64_t bytes_per_element(TensorType type);
// Whether weights of this type can be trained: fp32, bf16 and fp16.
bool is_weight_type(TensorType type);

}  // namespace odb
