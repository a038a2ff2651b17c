// Random weights from a seed, the same on every rank, device and number of threads.
#pragma once

#include <cstdint>

namespace odb {

class LanguageModel;

// Matrices and the embedding: normal with mean 0 and the config's initializer_range; norms 1,
// biases 0. Numbers are drawn on the CPU, one stream of base/rng.h for each stretch of 65,536
// values of a published tensor, so they do not depend on how matrices are fused.
void initialize_weights(LanguageModel& model, std::uint64_t seed);

}  // namespace odb
