// How much of the logits the token loss computes at a time (token_loss.h), for whoever counts
// memory.
#pragma once

#include <cstdint>

namespace odb {

inline constexpr std::int64_t kLossChunkBytes = std::int64_t{128} << 20;  // of fp32 logits

}  // namespace odb
