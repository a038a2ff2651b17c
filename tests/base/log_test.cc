#include "base/log.h"

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
}  // namespace

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
