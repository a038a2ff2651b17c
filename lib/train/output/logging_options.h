// Group "logging": what a run shows and checks while it trains.
#pragma once

#include <cstdint>

#include "base/options/table.h"

namespace odb {

enum class ConsoleKind { automatic, bar, lines, off };
const char* name(ConsoleKind value);

struct LoggingOptions {
  std::int64_t log_every = 1;  // steps; also of metrics.jsonl
  ConsoleKind console = ConsoleKind::automatic;
  std::int64_t check_every = 500;  // steps; 0: never
};

void describe(OptionTable& table, LoggingOptions& options);

}  // namespace odb
