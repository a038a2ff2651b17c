#include <string>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"

using namespace odb;

// One more check in a build with LibTorch.
#ifdef ODB_WITH_LIBTORCH
constexpr int kChecks = 16;
#else
constexpr int kChecks = 15;
#endif

TEST_CASE("doctor prints one line per check and leaves the folder as it was") {
  TemporaryFolder folder;
  const Outcome outcome = odb_trainer("doctor --output " + folder / "run");
  INFO(outcome.output);
  CHECK((outcome.code == 0 || outcome.code == 2));
  int checks = 0;
  for (const std::string_view line : split_lines(outcome.output)) {
    ++checks;
    CHECK((line.starts_with("ok ") || line.starts_with("warn ") || line.starts_with("fail ")));
  }
  CHECK(checks == kChecks);
  CHECK_THAT(outcome.output, Catch::Contains(folder / "run" + " can be written"));
  CHECK_THAT(odb_trainer("doctor --output " + folder.path()).output,
             Catch::Contains("can be written"));
}

TEST_CASE("a line feed in the environment does not break a line in two, and TMPDIR must exist") {
  const Outcome outcome = odb_trainer("doctor", "", "RANK='1\n2' TMPDIR=/nonexistent/x");
  CHECK_THAT(outcome.output, Catch::Contains("RANK=1 2"));
  CHECK(split_lines(outcome.output).size() == kChecks - 1);  // no --output
  CHECK_THAT(outcome.output, Catch::Contains("set TMPDIR to a folder that can be written"));
}

TEST_CASE("doctor ends with 2 when a check fails, and reports it in JSON too") {
  TemporaryFolder folder;
  const Outcome outcome = odb_trainer("doctor --json --output " + folder.write("file", "x"));
  INFO(outcome.output);
  CHECK(outcome.code == static_cast<int>(ExitCode::usage));
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("status") == "fail");
  REQUIRE(json.at("checks").size() == kChecks);
  bool output_failed = false;
  for (const auto& check : json.at("checks")) {
    CHECK(check.size() == 4);
    CHECK((check.at("status") == "ok") == check.at("advice").get<std::string>().empty());
    output_failed |= check.at("name") == "output" && check.at("status") == "fail";
  }
  CHECK(output_failed);
}

TEST_CASE("doctor refuses what it does not know") {
  const Outcome outcome = odb_trainer("doctor --jsn");
  CHECK(outcome.code == static_cast<int>(ExitCode::usage));
  CHECK_THAT(outcome.errors, Catch::Contains("--json"));
}
