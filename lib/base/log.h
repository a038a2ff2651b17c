// The log: one line shape for all processes of a run.
//
//   2026-11-29 15:25:36.123 rank 0 collate [align] warning: text
//   time (local)            rank  role      area    level (info is left out)
//
// Lines go to standard error, standard output belongs to a command's result. Colors only on a
// terminal (and not with NO_COLOR set). Every area has its own level. start_log() is called once
// per process; before it, lines are written with rank and role left out. A forked child sets its
// own role. Thread-safe; never throws.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <spdlog/logger.h>

namespace odb {

struct LogOptions {
  int rank = -1;     // number over the whole job; -1: not part of a job, left out of the lines
  std::string role;  // "trainer", "collate", "worker 3"; empty: left out
  std::string levels =
      "";  // "warning" or "info,align=debug,data=error": a default, then levels by area
};

// Sets what every later line of this process shows. Throws UsageError when `levels` names an
// unknown level.
void start_log(const LogOptions& options);

// Changes the role alone: for a process that was forked off one whose log was started.
void set_log_role(const std::string& role);

// The logger of an area (a short name such as "data", "align", "step"). Created at first use, kept
// to the end.
spdlog::logger& log(std::string_view area);

// "info,align=debug" -> {"": info, "align": debug}. Throws UsageError naming the part it cannot
// read.
std::map<std::string, spdlog::level::level_enum> parse_log_levels(std::string_view levels);

// The sink until set_log_sink() sets another.
std::shared_ptr<spdlog::sinks::sink> standard_error_sink();

// Sends this process's lines to `sink` instead of standard error (tests, the console's progress
// line). Other threads may log meanwhile. Once it returns, the previous sink gets no more lines.
void set_log_sink(std::shared_ptr<spdlog::sinks::sink> sink);

}  // namespace odb
