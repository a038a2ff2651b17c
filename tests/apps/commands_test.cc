// The binary from outside: which command runs, what goes to which stream, which exit code comes
// back.
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"

using namespace odb;

TEST_CASE("help lists the commands, on standard output") {
  for (const char* words : {"help", "--help", "-h", "help help"}) {
    INFO(words);
    const Outcome outcome = odb_trainer(words);
    CHECK(outcome.code == 0);
    CHECK(outcome.errors.empty());
    CHECK_THAT(outcome.output, Catch::StartsWith("odb-trainer COMMAND [options]\n\ncommands:\n"));
    CHECK(outcome.output.find("\n  version ") != std::string::npos);
    CHECK(outcome.output.find("\n  help ") != std::string::npos);
  }
}

TEST_CASE("help COMMAND and COMMAND --help are the same text") {
  const Outcome asked = odb_trainer("help version");
  CHECK(asked.code == 0);
  CHECK_THAT(asked.output, Catch::StartsWith("odb-trainer version [options]\n"));
  CHECK(odb_trainer("version --help").output == asked.output);
  CHECK(odb_trainer("version -h").output == asked.output);
}

TEST_CASE("version answers, also as a flag") {
  const Outcome outcome = odb_trainer("version");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::StartsWith("odb-trainer "));
  CHECK(odb_trainer("--version").output == outcome.output);
  CHECK_THAT(odb_trainer("version --json").output, Catch::StartsWith("{"));
}

TEST_CASE("what is wrong with the words is told on standard error, with exit code 2") {
  struct Row {
    const char* words;
    const char* message;
  };
  const Row rows[] = {
      {"", "odb-trainer: which command?\n\nodb-trainer COMMAND [options]\n"},
      {"versoin",
       "odb-trainer: unknown command 'versoin'; did you mean version? (odb-trainer help lists "
       "all)\n"},
      {"''", "odb-trainer: unknown command ''; did you mean "},
      {"help vers", "odb-trainer: unknown command 'vers'; did you mean version? "},
      {"help version help", "odb-trainer: 'help': help takes one command\n"},
      {"version --jsn", "odb-trainer: unknown option --jsn; did you mean --json?\n"},
      {"version now",
       "odb-trainer: 'now': odb-trainer version takes options only (--name value); see --help\n"},
  };
  for (const Row& row : rows) {
    INFO(row.words);
    const Outcome outcome = odb_trainer(row.words);
    CHECK(outcome.code == static_cast<int>(ExitCode::usage));
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.errors, Catch::StartsWith(row.message));
  }
}

TEST_CASE("an answer that cannot be written is a failure") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Outcome outcome = odb_trainer("version", "/dev/full");
  CHECK(outcome.code == static_cast<int>(ExitCode::files));
  CHECK_THAT(outcome.errors, Catch::Contains("No space left on device"));
}
