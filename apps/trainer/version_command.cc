#include "commands.h"
#include "version.h"
#include <fmt/core.h>

namespace odb {

int version_command(const Arguments&) {
  fmt::print("odb-trainer {} ({})\n", kVersion, kGitCommit);
  return 0;
}

}  // namespace odb
