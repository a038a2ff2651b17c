// The entry of every process that is not forked: picks the subcommand, turns errors into exit
// codes.
#include <cstdio>

#include "commands.h"
#include <fmt/core.h>

#include "base/error.h"

int main(int argc, char** argv) {
  using namespace odb;
  const Arguments words(argv + 1, argv + argc);
  try {
    if (words.empty()) throw UsageError("no subcommand; known: version");
    if (words[0] == "version") return version_command({words.begin() + 1, words.end()});
    throw UsageError("unknown subcommand '{}'; known: version", words[0]);
  } catch (const Error& error) {
    fmt::print(stderr, "odb-trainer: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "odb-trainer: internal error: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
