// The results of a sweep as a drawing (SVG): six small charts over the swept option, a line for
// each strategy. With several numbers of ranks besides, lines of the second on are dashed.
#pragma once

#include <string>
#include <vector>

#include "batching/simulate/plan.h"

namespace odb {

// Exactly one option is swept, or one and ranks.
std::string plan_plot(const PlanOptions& options, const std::vector<PlanRow>& rows);

}  // namespace odb
