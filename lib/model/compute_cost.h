// How much dearer long rows are: what attention costs beside the matrix products, which cost every
// token the same.
#pragma once

#include "model/config.h"

namespace odb {

// q of cost = tokens + q * sum(length^2), in tokens: multiplications of causal attention over a row
// (length^2 / 2 pairs, two products) by those of one token's way through all matrices, the output
// head counted for half of the tokens.
double quadratic_cost(const ModelConfig& config);

}  // namespace odb
