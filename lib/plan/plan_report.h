// The plan as a table for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace odb {

// One line per row, grouped by strategy; swept options have a column of their own. Ends with a line
// feed. docs/plan.md explains the columns.
std::string plan_table(const PlanOptions& options, const std::vector<PlanRow>& rows);

// {"lengths", "seed", "step_time": {...}, "strategies": [{"name", "layout", "ranks", "steps",
// "padding_fraction", "budget_fill", ...}, ...]}. Keys are documented in docs/plan.md. Ends with a
// line feed.
std::string plan_json(const PlanOptions& options, const std::vector<PlanRow>& rows);

}  // namespace odb
