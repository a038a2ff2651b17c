// The label of a token that is not trained, in records, samples, batches and the loss: PyTorch's
// ignore_index.
#pragma once

#include <cstdint>

namespace odb {

inline constexpr std::int32_t kIgnoreIndex = -100;

}  // namespace odb
