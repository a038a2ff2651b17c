// The results of a sweep as an SVG drawing: six small charts over the swept option, one line per
// strategy. If --ranks has several values too, lines from its second value on are dashed.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace odb {

// REQUIRES: exactly one option is swept, or one and --ranks.
std::string plan_plot(const PlanOptions& options, const std::vector<PlanRow>& rows);

}  // namespace odb
