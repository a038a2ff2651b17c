#include "bench/rank_options.h"

namespace odb {

void describe(OptionTable& table, LocalRankOptions& options) {
  table.group("ranks");
  table.add("network", options.network)
      .help(
          "interface (eth0) or address of this machine by which other ranks reach it; empty: the "
          "one that leads to rank 0");
}

}  // namespace odb
