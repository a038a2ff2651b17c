#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "catch.h"
#include "temporary_folder.h"
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

using namespace odb;

namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;
};

// Runs the binary with its standard error beside its standard output.
Outcome trainer(const std::string& arguments) {
  Outcome outcome;
  std::FILE* const pipe = ::popen((ODB_TRAINER " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int next = std::fgetc(pipe); next != EOF; next = std::fgetc(pipe))
    outcome.output.push_back(static_cast<char>(next));
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace

TEST_CASE("doctor prints one line per check and leaves the folder as it was") {
  TemporaryFolder folder;
  const Outcome outcome = trainer("doctor --output " + folder / "run");
  INFO(outcome.output);
  CHECK((outcome.exit_code == 0 || outcome.exit_code == 2));
  int checks = 0;
  for (const std::string_view line : split_lines(outcome.output)) {
    ++checks;
    CHECK((line.starts_with("ok ") || line.starts_with("warn ") || line.starts_with("fail ")));
  }
  CHECK(checks == 15);
  CHECK_THAT(outcome.output, Catch::Contains(folder / "run" + " can be written"));
  CHECK_THAT(trainer("doctor --output " + folder.path()).output, Catch::Contains("can be written"));
}

TEST_CASE("doctor ends with 2 when a check fails, and says so in JSON too") {
  TemporaryFolder folder;
  const Outcome outcome = trainer("doctor --json --output " + folder.write("file", "x"));
  INFO(outcome.output);
  CHECK(outcome.exit_code == static_cast<int>(ExitCode::usage));
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("status") == "fail");
  REQUIRE(json.at("checks").size() == 15);
  bool output_failed = false;
  for (const auto& check : json.at("checks")) {
    CHECK(check.size() == 4);
    CHECK((check.at("status") == "ok") == check.at("advice").get<std::string>().empty());
    output_failed |= check.at("name") == "output" && check.at("status") == "fail";
  }
  CHECK(output_failed);
}

TEST_CASE("doctor refuses what it does not know") {
  const Outcome outcome = trainer("doctor --jsn");
  CHECK(outcome.exit_code == static_cast<int>(ExitCode::usage));
  CHECK_THAT(outcome.output, Catch::Contains("--json"));
}
