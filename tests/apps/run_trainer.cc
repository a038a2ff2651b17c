#include "run_trainer.h"

#include <sys/wait.h>

#include <cstdlib>

#include "catch.h"
#include "temporary_folder.h"
#include "texts.h"

Outcome odb_trainer(const std::string& words, const std::string& output_path,
                    const std::string& environment) {
  const odb::TemporaryFolder folder;
  const std::string output = output_path.empty() ? folder / "output" : output_path;
  const std::string errors = folder / "errors";
  const std::string command =
      environment + " '" ODB_TRAINER "' " + words + " >'" + output + "' 2>'" + errors + "'";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), output_path.empty() ? odb::content_of(output) : "",
          odb::content_of(errors)};
}
