// What a run shows while it trains: on a terminal one line that is redrawn in place, with log lines
// above it; otherwise plain lines in the log.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <spdlog/sinks/sink.h>

#include "base/log.h"
#include "train/output/console_format.h"
#include "train/output/logging_options.h"

namespace odb {

// Where the bar is drawn.
class ConsoleOutput {
 public:
  virtual ~ConsoleOutput() = default;
  virtual bool is_terminal() const = 0;
  virtual std::size_t width() const = 0;          // columns
  virtual void write(std::string_view text) = 0;  // at once
};

// Shows progress. Created by rank 0; one thread calls show(), log lines may come from any. With a
// bar, the log is written through this object to `log_sink`; the destructor ends the bar's line and
// gives the log back to `log_sink`.
class Console {
 public:
  // Seconds of a steady clock with any origin.
  using Clock = std::function<double()>;

  // `output` must outlive it. automatic: a bar on a terminal, else lines.
  Console(ConsoleKind kind, ConsoleOutput& output, Clock clock,
          std::shared_ptr<spdlog::sinks::sink> log_sink = standard_error_sink());
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  // A bar is redrawn at most 10 times a second; lines are written only when `log_now` is set (each
  // --log-every steps).
  void show(const ConsoleFigures& figures, bool log_now);

  bool draws_bar() const { return bar_ != nullptr; }

 private:
  class Bar;

  bool lines_ = false;
  Clock clock_;
  std::shared_ptr<spdlog::sinks::sink> log_sink_;
  std::shared_ptr<Bar> bar_;
};

// The console of this process: standard error and the steady clock. A terminal that cannot move its
// cursor (TERM=dumb) counts as no terminal.
std::unique_ptr<Console> make_console(ConsoleKind kind);

}  // namespace odb
