#include "model/files/tensor_type.h"

#include <array>

#include "base/error.h"

namespace odb {
namespace {

struct Facts {
  TensorType type;
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array kTypes = {
    Facts{TensorType::f64, "F64", 8},         Facts{TensorType::f32, "F32", 4},
    Facts{TensorType::f16, "F16", 2},         Facts{TensorType::bf16, "BF16", 2},
    Facts{TensorType::i64, "I64", 8},         Facts{TensorType::u64, "U64", 8},
    Facts{TensorType::i32, "I32", 4},         Facts{TensorType::u32, "U32", 4},
    Facts{TensorType::i16, "I16", 2},         Facts{TensorType::u16, "U16", 2},
    Facts{TensorType::i8, "I8", 1},           Facts{TensorType::u8, "U8", 1},
    Facts{TensorType::boolean, "BOOL", 1},    Facts{TensorType::f8_e4m3, "F8_E4M3", 1},
    Facts{TensorType::f8_e5m2, "F8_E5M2", 1},
};

const Facts& facts_of(TensorType type) {
  for (const Facts& facts : kTypes)
    if (facts.type == type) return facts;
  throw InternalError("tensor type {} is in no table", static_cast<int>(type));
}

}  // namespace

std::string_view name(TensorType type) {
  return facts_of(type).name;
}

std::optional<TensorType> tensor_type_of(std::string_view name) {
  for (const Facts& facts : kTypes)
    if (facts.name == name) return facts.type;
  return std::nullopt;
}

std::uint64_t bytes_per_element(TensorType type) {
  return facts_of(type).bytes;
}

bool is_weight_type(TensorType type) {
  return type == TensorType::f32 || type == TensorType::bf16 || type == TensorType::f16;
}

}  // namespace odb
