// What a person sees while a run goes on: on a terminal one line that is redrawn in place, with the
// log's lines going by above it; else plain lines in the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <spdlog/sinks/sink.h>

#include "train/train_options.h"

namespace odb {

struct ConsoleFigures {
  double share = 0;  // of the run, 0..1
  std::int64_t step = 0;
  double epoch = 0;
  std::optional<double> loss;
  double lr = 0;
  double tokens_per_second = 0;
  double padding_fraction = 0;
  double data_wait_fraction = 0;  // of the time
  std::optional<double> seconds_left;
};

// "1h02m", "3m05s", "12s", "2d04h".
std::string format_time_left(double seconds);
// "950", "12.3k", "1.20M", "3.46B": three digits.
std::string format_rate(double per_second);

// "  34 % [######..............] step 1234  loss 1.2345  12.3k tokens/s  padding 1.2 %  data wait
// 0.3 % left 1h02m", at most `width` columns: what does not fit is left out, the least important
// first.
std::string bar_line(const ConsoleFigures& figures, std::size_t width);
// "step 1234 (34 %, epoch 1.02): loss 1.2345, lr 9.1e-06, 12.3k tokens/s, ..."
std::string log_line(const ConsoleFigures& figures);

// The seconds that the rest of a run takes at the pace so far; none before anything is done.
// `share_at_start` is what a resumed run began with.
std::optional<double> seconds_left(double share, double share_at_start, double seconds);

// Where the line goes; the real one is a terminal.
class ConsoleOutput {
 public:
  virtual ~ConsoleOutput() = default;
  virtual bool is_terminal() const = 0;
  virtual std::size_t width() const = 0;
  virtual void write(std::string_view text) = 0;  // at once, whole
};

// Standard error.
std::unique_ptr<ConsoleOutput> standard_error_output();

// Shows progress. Made by rank 0; one thread calls show(), log lines may come from any. While it
// lives with a bar, the log goes through it; it gives the log back and leaves no part of a line.
class Console {
 public:
  // Steady seconds, from any start.
  using Clock = std::function<double()>;

  // `output` and `clock` must outlive it. automatic: a bar on a terminal, else lines.
  Console(ConsoleKind kind, ConsoleOutput& output, Clock clock);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  // A bar is redrawn at most 10 times a second; lines are written only when `log_now` is set.
  void show(const ConsoleFigures& figures, bool log_now);

  bool draws_bar() const { return bar_ != nullptr; }

 private:
  class Bar;

  bool lines_ = false;
  std::shared_ptr<Bar> bar_;
  Clock clock_;
  double drawn_at_ = -1;
};

}  // namespace odb
