// odb-trainer version [--json]: this binary's version and what it was built with.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/options/command_line.h"
#include "commands.h"
#include "dist/libtorch_facts.h"
#include "version.h"

namespace odb {
namespace {

using Json = nlohmann::ordered_json;

// Nothing is known in a build without LibTorch.
LibTorchFacts torch_facts() {
#ifdef ODB_WITH_LIBTORCH
  return libtorch_facts();
#else
  return {};
#endif
}

// A version, or null if the binary is built without it.
Json version_or_null(const std::string& version) {
  return version.empty() ? Json(nullptr) : Json(version);
}

Json version_facts() {
  const LibTorchFacts torch = torch_facts();
  return {{"version", kVersion},
          {"git_commit", kGitCommit},
          {"compiler", ODB_COMPILER},
          {"build_type", ODB_BUILD_TYPE},
          {"libtorch", version_or_null(torch.libtorch)},
          {"cuda", version_or_null(torch.cuda)},
          {"nccl", version_or_null(torch.nccl)},
          {"cupti", version_or_null(torch.cupti)},
          {"gloo", torch.gloo},
          {"kineto", torch.kineto},
          {"gpus", torch.gpus}};
}

std::string in_words(const Json& value) {
  if (value.is_null()) return "not built in";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  std::string names;
  for (const std::string name : value)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

}  // namespace

int version_command(const Arguments& arguments) {
  bool as_json = false;
  OptionTable table;
  table.group("version");
  table.add_switch("json", as_json).help("print one JSON object");
  const CommandUsage usage{.name = "version",
                           .summary =
                               "Prints the version and the git commit of this binary, the compiler "
                               "and LibTorch that it was built with, and the GPUs found.",
                           .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  const Json facts = version_facts();
  if (as_json) {
    fmt::print("{}\n", facts.dump(2));
    return 0;
  }
  fmt::print("odb-trainer {} ({})\n", kVersion, kGitCommit);
  for (const auto& [name, value] : facts.items()) {
    if (name != "version" && name != "git_commit")
      fmt::print("  {:<10}  {}\n", name, in_words(value));
  }
  return 0;
}

}  // namespace odb
