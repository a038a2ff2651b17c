// The extra cost of long rows: attention, compared with the matrix products, which cost the same
// for every token.
#pragma once

#include "model/files/config.h"

namespace odb {

// q of cost = tokens + q * sum(length^2), in tokens: the multiplications of causal attention over a
// row (length^2 / 2 pairs, two products), divided by those of one token in all matrices. The output
// head counts for half of the tokens.
double quadratic_cost(const ModelConfig& config);

}  // namespace odb
