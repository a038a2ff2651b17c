// The angle by which each pair of a head's values rotates from one position to the next.
//
// The plain method is Su et al., "RoFormer" (2021); linear, dynamic NTK and YaRN (Peng et al. 2023)
// and Llama 3.1's scaling stretch it as transformers does. Pure: config in, numbers out.
#pragma once

#include <cstdint>
#include <vector>

#include "model/files/config.h"

namespace odb {

// Radians per position for pairs 0 .. head_size/2 - 1. `row_length` matters for dynamic scaling
// only: rows longer than the model's own length rotate more slowly, each by its own length.
std::vector<float> rope_frequencies(const ModelConfig& config, std::int64_t row_length);

// Whether rows of this length rotate at another speed than short ones.
bool rope_depends_on_length(const ModelConfig& config, std::int64_t row_length);

}  // namespace odb
