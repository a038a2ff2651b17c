// The options for the data processes of a rank.
#pragma once

#include <cstdint>

#include "base/options/table.h"

namespace odb {

struct LoaderOptions {
  std::int64_t data_workers = 2;  // --data-workers; 0: collate prepares the samples
  std::int64_t depth = 8;         // --depth, finished slots kept ready
  std::uint64_t seed = 0;         // --seed
};

// Declares every option of `options`, which must outlive `table`.
void describe(OptionTable& table, LoaderOptions& options);

}  // namespace odb
