// odb-trainer version [--json]: this binary's version and what it was built with.
#include "commands.h"
#include "version.h"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

#ifdef ODB_WITH_LIBTORCH
#include "dist/libtorch_facts.h"
#endif

namespace odb {
namespace {

using Json = nlohmann::ordered_json;

// A version, or null where the binary does without.
Json version_or_null(const std::string& version) {
  return version.empty() ? Json(nullptr) : Json(version);
}

Json version_facts() {
  Json facts = {{"version", kVersion},
                {"commit", kGitCommit},
                {"compiler", ODB_COMPILER},
                {"build_type", ODB_BUILD_TYPE}};
#ifdef ODB_WITH_LIBTORCH
  const LibTorchFacts torch = libtorch_facts();
  facts["libtorch"] = torch.libtorch;
  facts["cuda"] = version_or_null(torch.cuda);
  facts["nccl"] = version_or_null(torch.nccl);
  facts["cupti"] = version_or_null(torch.cupti);
  facts["gloo"] = torch.gloo;
  facts["kineto"] = torch.kineto;
  facts["gpus"] = torch.gpus;
#else
  facts["libtorch"] = nullptr;
#endif
  return facts;
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
  const bool as_json = arguments == Arguments{"--json"};
  if (!as_json && !arguments.empty()) {
    throw UsageError("version: found '{}', wanted nothing or --json", arguments.back());
  }
  const Json facts = version_facts();
  if (as_json) {
    fmt::print("{}\n", facts.dump(2));
    return 0;
  }
  fmt::print("odb-trainer {} ({})\n", kVersion, kGitCommit);
  for (const auto& [name, value] : facts.items()) {
    if (name != "version" && name != "commit") fmt::print("  {:<10}  {}\n", name, in_words(value));
  }
  return 0;
}

}  // namespace odb
