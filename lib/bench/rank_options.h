// The options of group "ranks" that all commands with several ranks share.
#pragma once

#include <string>

#include "base/options/table.h"

namespace odb {

struct LocalRankOptions {
  std::string network;  // an interface or a local address; empty: that towards the store
};

void describe(OptionTable& table, LocalRankOptions& options);

}  // namespace odb
