// The batching options as entries of a command's option table: names, units, ranges, help.
#pragma once

#include "base/options/table.h"
#include "batching/options.h"

namespace odb {

// Declares every option of `options`, which must outlive `table`. What spans several options is
// checked by resolve().
void describe(OptionTable& table, BatchingOptions& options);

}  // namespace odb
