// How much of the logits the token loss computes at a time (token_loss.h), for whoever counts
// memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace odb {

// Positions: 32 MiB of fp32 logits, but no product of fewer than 256 rows, which would leave a
// processor idle.
constexpr std::int64_t loss_chunk_positions(std::int64_t vocabulary) {
  constexpr std::int64_t kBytes = std::int64_t{32} << 20;
  constexpr std::int64_t kFewest = 256;
  return std::max(kFewest, kBytes / (4 * vocabulary));
}

}  // namespace odb
