#include "run_trainer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "catch.h"
#include "temporary_folder.h"
#include "texts.h"

Outcome odb_trainer(const std::string& arguments, const std::string& output_path,
                    const std::string& environment) {
  const odb::TemporaryFolder folder;
  const std::string output = output_path.empty() ? folder / "output" : output_path;
  const std::string errors = folder / "errors";
  const std::string command =
      environment + " '" ODB_TRAINER "' " + arguments + " >'" + output + "' 2>'" + errors + "'";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), output_path.empty() ? odb::content_of(output) : "",
          odb::content_of(errors)};
}

Outcome odb_trainer_unread(const std::string& arguments, const std::string& before) {
  const odb::TemporaryFolder folder;
  const std::string errors = folder / "errors";
  const std::string command = before + " '" ODB_TRAINER "' " + arguments + " 2>'" + errors + "'";
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);  // as from a shell, whatever this program was started by
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), "", odb::content_of(errors)};
}
