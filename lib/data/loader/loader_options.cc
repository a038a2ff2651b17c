#include "data/loader/loader_options.h"

#include "data/loader/shared/loader_control.h"

namespace odb {

void describe(OptionTable& table, LoaderOptions& options) {
  table.group("data");
  table.add("data-workers", options.data_workers)
      .at_least(0)
      .at_most(kMaxWorkers)
      .help("preprocessing processes per rank; 0: the collate process preprocesses");
  table.add("depth", options.depth)
      .unit("micro-batches")
      .at_least(2)
      .at_most(4096)
      .help("finished micro-batches kept ready per rank");
  table.add("seed", options.seed).help("seed of every random choice: order, batches, augmentation");
}

}  // namespace odb
