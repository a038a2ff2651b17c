// The options of `odb-trainer plan` as entries of its option table.
#pragma once

#include "base/options/table.h"
#include "plan/plan.h"

namespace odb {

// Declares every option of `options`, which must outlive `table`.
void describe(OptionTable& table, PlanOptions& options);

}  // namespace odb
