#include "train/output/logging_options.h"

#include "base/options/choices.h"

namespace odb {

const char* name(ConsoleKind value) {
  constexpr const char* kNames[] = {"auto", "bar", "lines", "off"};
  return kNames[static_cast<int>(value)];
}

void describe(OptionTable& table, LoggingOptions& options) {
  table.group("logging");
  table.add("log-every", options.log_every)
      .unit("steps")
      .at_least(1)
      .help("how often a line goes to metrics.jsonl and, without a bar, to the log");
  table
      .add("console", options.console,
           named({ConsoleKind::automatic, ConsoleKind::bar, ConsoleKind::lines, ConsoleKind::off}))
      .help("how progress is shown; auto is a bar on a terminal, else lines");
  table.add("check-every", options.check_every)
      .unit("steps")
      .at_least(0)
      .help("how often all ranks compare their weights; 0 never does");
}

}  // namespace odb
