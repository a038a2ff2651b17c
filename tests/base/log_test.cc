#include "base/log.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>
#include <sstream>

#include <spdlog/sinks/ostream_sink.h>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {
// Captures the lines of this process while it lives.
struct Captured {
  std::ostringstream text;
  explicit Captured(const LogOptions& options) {
    set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
    start_log(options);
  }
};

// A warning as it looks on a terminal: written by a forked child whose standard error is one.
std::string warning_on_terminal(const char* no_color) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(terminal, STDERR_FILENO);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", no_color, 1);
    set_log_sink(standard_error_sink());
    log("data").warn("late");
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);  // a terminal keeps some thousand bytes
  std::string line(1000, '\0');
  const ssize_t count = ::read(master, line.data(), line.size());
  ::close(terminal);
  ::close(master);
  REQUIRE(count > 0);
  line.resize(static_cast<size_t>(count));
  return line;
}
}  // namespace

TEST_CASE("levels are colored on a terminal, but not with NO_COLOR set") {
  CHECK_THAT(warning_on_terminal(""), Catch::Contains("\x1b["));
  CHECK_THAT(warning_on_terminal("1"),
             Catch::Contains("[data] warning: late") && !Catch::Contains("\x1b["));
}

TEST_CASE("a line shows time, rank, role and area, and the level when it is not info") {
  Captured captured({.rank = 3, .role = "collate"});
  log("align").info("round {} done", 12);
  log("align").warn("late");
  const std::string lines = captured.text.str();
  const std::regex shape(
      "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} rank 3 collate \\[align\\] round 12 "
      "done\n"
      "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} rank 3 collate \\[align\\] warning: "
      "late\n");
  INFO(lines);
  CHECK(std::regex_match(lines, shape));
}

TEST_CASE("levels can be set by area, also for loggers that exist already") {
  Captured captured({});
  log("data").debug("hidden");
  start_log({.levels = "error,data=debug"});
  log("data").debug("shown");
  log("step").warn("below error");
  log("step").error("loud");
  const std::string lines = captured.text.str();
  INFO(lines);
  CHECK(lines.find("hidden") == std::string::npos);
  CHECK(lines.find("[data] debug: shown") != std::string::npos);
  CHECK(lines.find("below error") == std::string::npos);
  CHECK(lines.find("[step] error: loud") != std::string::npos);
}

TEST_CASE("an unknown level is a usage error that names it") {
  CHECK_THROWS_WITH(parse_log_levels("info,align=lowd"),
                    Catch::Contains("lowd") && Catch::Contains("debug"));
  CHECK_THROWS_AS(start_log({.levels = "loud"}), UsageError);
}
