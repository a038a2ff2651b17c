#include "train/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

namespace odb {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr std::string_view kClearLine = "\r\x1b[K";

class StandardError final : public ConsoleOutput {
 public:
  bool is_terminal() const override {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
  }
  std::size_t width() const override {
    winsize size = {};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
  }
  void write(std::string_view text) override {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
};

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

// The bar at the bottom of the terminal. Log lines are written above it. Any thread.
class Console::Bar final : public spdlog::sinks::sink {
 public:
  Bar(ConsoleOutput& output, std::shared_ptr<spdlog::sinks::sink> below)
      : output_(output), below_(std::move(below)) {}

  void draw(const ConsoleFigures& figures, double now) {
    const std::lock_guard lock(mutex_);
    figures_ = figures;
    newer_ = true;
    if (drawn_at_ && now - *drawn_at_ < kRedrawSeconds) return;
    drawn_at_ = now;
    draw_line();
  }

  // Draws the newest figures unless they are on the screen already, then ends the line.
  void end() {
    const std::lock_guard lock(mutex_);
    if (!figures_) return;
    if (newer_) draw_line();
    output_.write("\n");
    figures_.reset();
  }

  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock(mutex_);
    if (figures_) output_.write(kClearLine);
    below_->log(message);
    below_->flush();
    if (figures_) draw_line();
  }
  void flush() override { below_->flush(); }
  void set_pattern(const std::string& pattern) override { below_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    below_->set_formatter(std::move(formatter));
  }

 private:
  // One column less: a full line would move the cursor to the next.
  void draw_line() {
    const std::size_t width = std::max<std::size_t>(output_.width(), 2) - 1;
    output_.write(std::string(kClearLine) + bar_line(*figures_, width));
    newer_ = false;
  }

  ConsoleOutput& output_;
  std::shared_ptr<spdlog::sinks::sink> below_;
  std::mutex mutex_;
  std::optional<ConsoleFigures> figures_;
  bool newer_ = false;  // the figures are newer than those on the screen
  std::optional<double> drawn_at_;
};

Console::Console(ConsoleKind kind, ConsoleOutput& output, Clock clock,
                 std::shared_ptr<spdlog::sinks::sink> log_sink)
    : clock_(std::move(clock)), log_sink_(std::move(log_sink)) {
  if (kind == ConsoleKind::automatic)
    kind = output.is_terminal() ? ConsoleKind::bar : ConsoleKind::lines;
  lines_ = kind == ConsoleKind::lines;
  if (kind != ConsoleKind::bar) return;
  bar_ = std::make_shared<Bar>(output, log_sink_);
  set_log_sink(bar_);
}

Console::~Console() {
  if (!bar_) return;
  bar_->end();
  set_log_sink(log_sink_);
}

void Console::show(const ConsoleFigures& figures, bool log_now) {
  if (bar_)
    bar_->draw(figures, clock_());
  else if (lines_ && log_now)
    log("train").info("{}", log_line(figures));
}

std::unique_ptr<Console> make_console(ConsoleKind kind) {
  static StandardError output;
  return std::make_unique<Console>(kind, output, steady_seconds);
}

}  // namespace odb
