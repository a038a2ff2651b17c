// `odb-trainer doctor`: checks the machine and prints, one line per check, what it found and what
// to do about it. Exit code 0, or 2 if a check failed and training cannot work.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/machine.h"
#include "base/options/command_line.h"
#include "base/real_file_system.h"
#include "commands.h"
#include "doctor/machine_checks.h"

#ifdef ODB_WITH_LIBTORCH
#include "dist/libtorch_facts.h"
#endif

namespace odb {
namespace {

// A host name or a variable may hold a line feed; a check is one line.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

void print_lines(const std::vector<Check>& checks) {
  std::size_t width = 0;
  for (const Check& check : checks)
    width = std::max(width, check.name.size());
  for (const Check& check : checks)
    fmt::print("{:4}  {:{}}  {}{}{}\n", name(check.status), check.name, width,
               on_one_line(check.found), check.advice.empty() ? "" : " -> ",
               on_one_line(check.advice));
}

void print_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks)
    list.push_back({{"status", name(check.status)},
                    {"name", check.name},
                    {"found", check.found},
                    {"advice", check.advice}});
  const nlohmann::ordered_json whole{{"status", name(worst(checks))}, {"checks", list}};
  // Host names and variables may hold any bytes; those that are not UTF-8 are replaced.
  fmt::print("{}\n", whole.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

#ifdef ODB_WITH_LIBTORCH
// GPUs that the kernel knows but LibTorch cannot use are the usual reason for a slow first run.
Check libtorch_check(const MachineFacts& machine) {
  const LibTorchFacts torch = libtorch_facts();
  Check check{.name = "LibTorch",
              .found = fmt::format("{}, {}, Gloo {}", torch.libtorch,
                                   torch.cuda.empty() ? "CPU build" : "CUDA " + torch.cuda,
                                   torch.gloo ? "works" : "does not work")};
  if (!torch.cuda.empty()) check.found += fmt::format(", {} GPUs usable", torch.gpus.size());
  if (!torch.gloo) {
    check.status = CheckStatus::fail;
    check.advice = "check that the loopback interface is up: ranks communicate over it";
  } else if (torch.gpus.empty() && machine.gpus.device_files > 0) {
    check.status = CheckStatus::warn;
    check.advice = torch.cuda.empty() ? "build against a CUDA build of LibTorch to use the GPUs"
                                      : "check the driver with nvidia-smi: LibTorch sees no GPU";
  }
  return check;
}
#endif

}  // namespace

int doctor_command(const Arguments& arguments) {
  std::optional<std::filesystem::path> output;
  bool as_json = false;
  std::int64_t ranks = 1;
  OptionTable table;
  table.group("doctor");
  table.add("output", output).help("folder of a future run: check that it can be written");
  table.add("ranks", ranks)
      .at_least(1)
      .help("ranks of a future run whose rank 0 is on this machine: check its limits for them");
  table.add_switch("json", as_json)
      .help("print one JSON object {status, checks: [{status, name, found, advice}]}");
  const CommandUsage usage{.name = "doctor",
                           .summary =
                               "Checks the machine and prints, one line per check, what it found "
                               "and what to do about it. Exit code 0, or 2 if a check failed and "
                               "training cannot work.",
                           .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  RealFileSystem files;
  const MachineFacts machine =
      read_machine(files, process_environment, output ? output->string() : "");
  std::vector<Check> checks = check_machine(machine, ranks);
#ifdef ODB_WITH_LIBTORCH
  checks.push_back(libtorch_check(machine));
#endif
  as_json ? print_json(checks) : print_lines(checks);
  return static_cast<int>(worst(checks) == CheckStatus::fail ? ExitCode::usage : ExitCode::done);
}

}  // namespace odb
