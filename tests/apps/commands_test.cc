// The binary from outside: which command runs, what goes to which stream, which exit code comes
// back.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "texts.h"

using namespace odb;

namespace {

// A plan over two numbers of ranks that takes no time, its plot written to `plot`.
Outcome plan_with_plot(const TemporaryFolder& folder, const std::string& plot) {
  const std::string lengths = folder.write("lengths", "5\n7\n3\n9\n4\n8\n");
  return odb_trainer("plan --batching standard --ranks 1 --ranks 2 --lengths '" + lengths +
                     "' --plot '" + plot + "'");
}

}  // namespace

TEST_CASE("help lists the commands, on standard output") {
  for (const char* arguments : {"help", "--help", "-h", "help help"}) {
    INFO(arguments);
    const Outcome outcome = odb_trainer(arguments);
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
  CHECK(odb_trainer("help inspect data").output == odb_trainer("inspect data --help").output);
}

TEST_CASE("version answers, also as a flag") {
  const Outcome outcome = odb_trainer("version");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::StartsWith("odb-trainer "));
  CHECK(odb_trainer("--version").output == outcome.output);
  CHECK_THAT(odb_trainer("version --json").output, Catch::StartsWith("{"));
}

TEST_CASE("wrong arguments are reported on standard error, with exit code 2") {
  struct Row {
    const char* arguments;
    const char* message;
  };
  const Row rows[] = {
      {"", "odb-trainer: the command is missing\n\nodb-trainer COMMAND [options]\n"},
      {"versoin", "odb-trainer: unknown command 'versoin'; did you mean version?\n"},
      {"''", "odb-trainer: unknown command ''; odb-trainer help lists all\n"},
      {"fly", "odb-trainer: unknown command 'fly'; odb-trainer help lists all\n"},
      {"plan -x", "odb-trainer: unknown option -x; --help lists all\n"},
      {"help vers", "odb-trainer: unknown command 'vers'; did you mean version?\n"},
      {"help --bogus", "odb-trainer: unknown command '--bogus'; odb-trainer help lists all\n"},
      {"--help --bogus", "odb-trainer: unknown command '--bogus'; odb-trainer help lists all\n"},
      {"help bench loadr", "odb-trainer: unknown part 'loadr' to measure; did you mean loader?\n"},
      {"version --jsn", "odb-trainer: unknown option --jsn; did you mean --json?\n"},
      {"version now",
       "odb-trainer: 'now': odb-trainer version takes options only (--name value); see --help\n"},
  };
  for (const Row& row : rows) {
    INFO(row.arguments);
    const Outcome outcome = odb_trainer(row.arguments);
    CHECK(outcome.code == static_cast<int>(ExitCode::usage));
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.errors, Catch::StartsWith(row.message));
  }
}

TEST_CASE("an answer that cannot be written is a failure") {
  // Short answers meet the full disk when they are flushed, long ones while they are printed.
  REQUIRE(std::filesystem::exists("/dev/full"));
  for (const char* arguments : {"version", "plan --help", "plan --print-schema"}) {
    INFO(arguments);
    const Outcome outcome = odb_trainer(arguments, "/dev/full");
    CHECK(outcome.code == static_cast<int>(ExitCode::files));
    CHECK_THAT(outcome.errors, Catch::StartsWith("odb-trainer: cannot write to standard output: "
                                                 "No space left on device"));
  }
}

TEST_CASE("an answer that nobody reads ends the command without a message, as SIGPIPE would") {
  for (const char* arguments : {"version", "plan --help", "plan --print-schema", "help"}) {
    INFO(arguments);
    const Outcome outcome = odb_trainer_unread(arguments);
    CHECK(outcome.code == 128 + SIGPIPE);
    CHECK(outcome.errors.empty());
  }
}

TEST_CASE("closed standard descriptors are no error, and no file takes their place") {
  const std::string command = std::string("exec '") + ODB_TRAINER + "' version <&- >&- 2>&-";
  const int status = std::system(command.c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a plot is written through links, into pipes, and keeps a file's mode") {
  const TemporaryFolder folder;
  const std::string file = folder.write("plot.svg", "old");
  std::filesystem::permissions(
      file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(file, folder / "link.svg");
  REQUIRE(plan_with_plot(folder, folder / "link.svg").code == 0);
  CHECK(std::filesystem::is_symlink(folder / "link.svg"));
  CHECK_THAT(content_of(file), Catch::StartsWith("<svg"));
  CHECK(std::filesystem::status(file).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));

  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int held = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);  // a pipe keeps 64 KiB
  CHECK(plan_with_plot(folder, pipe).code == 0);
  std::string read(64 << 10, '\0');
  const ssize_t count = ::read(held, read.data(), read.size());
  ::close(held);
  REQUIRE(count > 0);
  CHECK(read.substr(0, static_cast<size_t>(count)) == content_of(file));
}

TEST_CASE("lengths come from files and pipes, and wrong ones are refused by one rule") {
  const TemporaryFolder folder;
  const std::string plan = "plan --batching standard --ranks 1 --lengths ";
  const std::string file = folder.write("lengths", "5\r\n7\r\n");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const Outcome by_file = odb_trainer(plan + "'" + file + "'");
  CHECK(by_file.code == 0);
  const Outcome by_pipe = odb_trainer(plan + "'" + pipe + "'", "",
                                      "timeout 60 sh -c \"cat '" + file + "' > '" + pipe + "'\" &");
  CHECK(by_pipe.code == 0);
  CHECK(by_pipe.output == by_file.output);
  for (const std::string& path : {folder.path(), folder / "none", std::string("/dev/zero")}) {
    INFO(path);
    CHECK(odb_trainer(plan + "'" + path + "'").code == static_cast<int>(ExitCode::usage));
  }
  CHECK_THAT(odb_trainer(plan + "caht").errors, Catch::Contains("distributions: chat, "));
  CHECK(odb_trainer(plan + "'" + folder.write("words", "five\n") + "'").code ==
        static_cast<int>(ExitCode::data));
}

TEST_CASE("a plot that cannot be written ends the plan before its work") {
  const TemporaryFolder folder;
  const Outcome outcome = plan_with_plot(folder, folder / "none/plot.svg");
  CHECK(outcome.code == static_cast<int>(ExitCode::files));
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Catch::Contains("none/plot.svg for writing: No such file"));
}
