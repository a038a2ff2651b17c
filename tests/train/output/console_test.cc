#include "train/output/console.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <regex>
#include <sstream>
#include <thread>

#include <spdlog/sinks/ostream_sink.h>

#include "base/log.h"
#include "catch.h"

using namespace odb;

namespace {

ConsoleFigures figures() {
  return {.share = 0.345,
          .step = 1234,
          .epoch = 1.02,
          .loss = 1.23456,
          .lr = 9.1e-6,
          .tokens_per_second = 12345,
          .padding_fraction = 0.0123,
          .data_wait_fraction = 0.003,
          .seconds_left = 3720};
}

// A terminal whose log goes to the same place.
struct Screen final : ConsoleOutput {
  std::ostringstream text;
  bool terminal = true;
  std::size_t columns = 200;
  std::shared_ptr<spdlog::sinks::sink> log_sink =
      std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
  double now = 0;

  ~Screen() override { set_log_sink(standard_error_sink()); }
  bool is_terminal() const override { return terminal; }
  std::size_t width() const override { return columns; }
  void write(std::string_view written) override { text << written; }

  Console console(ConsoleKind kind) {
    set_log_sink(log_sink);
    return Console(kind, *this, [this] { return now; }, log_sink);
  }

  // What a person sees in the end: "\r" goes to the line's start, "\x1b[K" clears from there.
  std::vector<std::string> lines() const {
    std::vector<std::string> seen(1);
    std::size_t column = 0;
    const std::string all = text.str();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == '\r') {
        column = 0;
      } else if (all[i] == '\n') {
        seen.emplace_back();
        column = 0;
      } else if (all.compare(i, 3, "\x1b[K") == 0) {
        seen.back().resize(column);
        i += 2;
      } else {
        seen.back().resize(std::max(seen.back().size(), column + 1));
        seen.back()[column++] = all[i];
      }
    }
    return seen;
  }
  std::size_t draws() const {
    std::size_t count = 0;
    const std::string all = text.str();
    for (std::size_t at = all.find("[#"); at != std::string::npos; at = all.find("[#", at + 1))
      ++count;
    return count;
  }
};

// What a forked child whose standard error is a terminal of 60 columns shows there.
std::string shown_on_terminal(const char* term) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  const winsize size{.ws_row = 20, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(terminal, STDERR_FILENO);
    ::setenv("TERM", term, 1);
    {
      const auto console = make_console(ConsoleKind::automatic);
      console->show(figures(), true);
      log("data").info("meanwhile");
    }
    ::_exit(0);
  }
  ::close(terminal);
  // A terminal hands over in pieces, and an error (EIO) once all ends of it are closed.
  std::string shown;
  std::array<char, 256> piece = {};
  for (ssize_t count = 0; (count = ::read(master, piece.data(), piece.size())) > 0;)
    shown.append(piece.data(), static_cast<std::size_t>(count));
  ::close(master);
  int status = 0;
  ::waitpid(child, &status, 0);
  return shown;
}

}  // namespace

TEST_CASE("A bar on a real terminal, and lines on one that cannot move its cursor") {
  const std::string line = bar_line(figures(), 59);
  const std::string shown = shown_on_terminal("xterm");
  INFO(shown);
  CHECK_THAT(shown, Catch::StartsWith("\r\x1b[K" + line));
  CHECK_THAT(shown, Catch::Contains("meanwhile"));
  CHECK_THAT(shown, Catch::EndsWith("\r\x1b[K" + line + "\r\n"));
  const std::string dumb = shown_on_terminal("dumb");
  CHECK_THAT(dumb, Catch::Contains("[train] step 1234"));
  CHECK_THAT(dumb, !Catch::Contains("\x1b[K"));
}

TEST_CASE("Formats of the remaining time") {
  const std::vector<std::pair<double, std::string>> table = {
      {0, "0s"},         {59.4, "59s"},   {59.6, "1m00s"},     {185, "3m05s"},
      {3599.7, "1h00m"}, {3720, "1h02m"}, {86399, "23h59m"},   {187200, "2d04h"},
      {-1, "?"},         {INFINITY, "?"}, {std::nan(""), "?"}, {1e12, "?"}};
  for (const auto& [seconds, text] : table)
    CHECK(format_time_left(seconds) == text);
}

TEST_CASE("Rates have three digits") {
  const std::vector<std::pair<double, std::string>> table = {
      {0, "0.00"},       {3.456, "3.46"},  {9.996, "10.0"},    {12.34, "12.3"},
      {99.96, "100"},    {950, "950"},     {999.6, "1.00k"},   {12345, "12.3k"},
      {999600, "1.00M"}, {1.2e6, "1.20M"}, {3.456e9, "3.46B"}, {5e12, "5000B"}};
  for (const auto& [rate, text] : table)
    CHECK(format_rate(rate) == text);
}

TEST_CASE("The bar's line leaves out what does not fit, the least important first") {
  const std::vector<std::pair<std::size_t, std::string>> table = {
      {200,
       " 34 %  [###.......]  step 1234  loss 1.2346  12.3k tokens/s  padding 1.2 %  "
       "data wait 0.3 %  1h02m left"},
      {100,
       " 34 %  [###.......]  step 1234  loss 1.2346  12.3k tokens/s  data wait 0.3 %  "
       "1h02m left"},
      {80, " 34 %  [###.......]  step 1234  loss 1.2346  12.3k tokens/s  1h02m left"},
      {70, " 34 %  step 1234  loss 1.2346  12.3k tokens/s  1h02m left"},
      {45, " 34 %  step 1234  loss 1.2346  1h02m left"},
      {30, " 34 %  step 1234  loss 1.2346"},
      {20, " 34 %  step 1234"},
      {10, " 34 %"},
      {3, " 34"},
      {0, ""}};
  for (const auto& [width, line] : table) {
    INFO(width);
    CHECK(bar_line(figures(), width) == line);
    CHECK(bar_line(figures(), width).size() <= width);
  }
  ConsoleFigures early = figures();
  early.loss.reset();
  early.seconds_left.reset();
  CHECK(bar_line(early, 50) == " 34 %  [###.......]  step 1234  12.3k tokens/s");
  early.share = 0.9999;
  CHECK_THAT(bar_line(early, 50), Catch::StartsWith(" 99 %  [#########.]"));
  early.share = 1;
  CHECK_THAT(bar_line(early, 50), Catch::StartsWith("100 %  [##########]"));
}

TEST_CASE("A line for the log") {
  CHECK(log_line(figures()) ==
        "step 1234 (34 %, epoch 1.02): loss 1.2346, lr 9.1e-06, 12.3k tokens/s, padding 1.2 %, "
        "data wait 0.3 %, 1h02m left");
}

TEST_CASE("The time left follows the pace of this life") {
  CHECK(*seconds_left(0.5, 0, 100) == Approx(100));
  CHECK(*seconds_left(0.75, 0.5, 100) == Approx(100));
  CHECK(*seconds_left(1, 0, 100) == 0);
  CHECK_FALSE(seconds_left(0.5, 0.5, 100));
  CHECK_FALSE(seconds_left(0, 0, 0));
}

TEST_CASE("A bar is redrawn in place, at most ten times a second, and log lines appear above it") {
  Screen screen;
  {
    Console console = screen.console(ConsoleKind::automatic);
    CHECK(console.draws_bar());
    log("data").info("before the first figures");
    for (int i = 0; i <= 100; ++i) {
      screen.now = i * 0.01;
      ConsoleFigures now = figures();
      now.step = i;
      console.show(now, true);
      if (i == 50) log("data").info("in the middle");
    }
    // In the one second; one more after the log line.
    CHECK(screen.draws() >= 10);
    CHECK(screen.draws() <= 12);
  }
  log("data").info("after the end");
  const std::vector<std::string> lines = screen.lines();
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], Catch::EndsWith("before the first figures"));
  CHECK_THAT(lines[1], Catch::EndsWith("in the middle"));
  CHECK_THAT(lines[2], Catch::Contains("step 100  loss"));
  CHECK_THAT(lines[3], Catch::EndsWith("after the end"));
  CHECK(lines[4].empty());
}

TEST_CASE("A bar's last line is drawn once where nothing is newer, and with the newest figures") {
  Screen screen;
  {
    Console console = screen.console(ConsoleKind::bar);
    console.show(figures(), false);
    log("train").info("done");  // goes by above it
    CHECK(screen.draws() == 2);
  }
  CHECK(screen.draws() == 2);
  CHECK(screen.lines().size() == 3);

  Screen hurried;
  {
    Console console = hurried.console(ConsoleKind::bar);
    console.show(figures(), false);
    ConsoleFigures last = figures();
    last.step = 1235;
    console.show(last, false);  // too soon to be drawn
    CHECK(hurried.draws() == 1);
  }
  CHECK(hurried.draws() == 2);
  CHECK_THAT(hurried.lines()[0], Catch::Contains("step 1235"));
}

TEST_CASE("No log line is lost or torn while a bar starts, is redrawn and ends") {
  constexpr int kLines = 200;
  Screen screen;
  set_log_sink(screen.log_sink);
  std::vector<std::thread> threads;
  for (const char* area : {"align", "data"})
    threads.emplace_back([area] {
      for (int i = 0; i < kLines; ++i)
        log(area).info("line {} of {}", i, area);
    });
  for (int i = 0; i < 50; ++i) {
    Console console = screen.console(ConsoleKind::bar);
    screen.now = i;
    console.show(figures(), false);
    console.show(figures(), false);
  }
  for (std::thread& thread : threads)
    thread.join();
  int whole = 0;
  for (const std::string& line : screen.lines())
    whole += std::regex_match(line, std::regex("[-0-9:. ]* \\[(align|data)\\] line \\d+ of \\1"));
  CHECK(whole == 2 * kLines);
}

TEST_CASE("A bar is one column narrower than its terminal is now") {
  Screen screen;
  Console console = screen.console(ConsoleKind::bar);
  console.show(figures(), true);
  screen.columns = 30;
  screen.now = 1;
  console.show(figures(), true);
  CHECK(screen.lines().back() == " 34 %  step 1234  loss 1.2346");
}

TEST_CASE("Without a terminal there are plain lines, only when one is due") {
  Screen screen;
  screen.terminal = false;
  Console console = screen.console(ConsoleKind::automatic);
  CHECK_FALSE(console.draws_bar());
  console.show(figures(), false);
  CHECK(screen.text.str().empty());
  console.show(figures(), true);
  CHECK_THAT(screen.text.str(), Catch::EndsWith("[train] " + log_line(figures()) + "\n"));
}

TEST_CASE("A console that is off shows nothing") {
  Screen screen;
  Console console = screen.console(ConsoleKind::off);
  console.show(figures(), true);
  CHECK(screen.text.str().empty());
}
