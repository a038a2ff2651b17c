// How much of the logits the token loss computes at a time (token_loss.h); the memory estimate
// needs it, too.
#pragma once

#include <algorithm>
#include <cstdint>

namespace odb {

// Positions in a chunk: 32 MiB of fp32 logits, but at least 256 rows, because smaller products
// leave a processor idle.
constexpr std::int64_t loss_chunk_positions(std::int64_t vocabulary) {
  constexpr std::int64_t kBytes = std::int64_t{32} << 20;
  constexpr std::int64_t kMin = 256;
  return std::max(kMin, kBytes / (4 * vocabulary));
}

}  // namespace odb
