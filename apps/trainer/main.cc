// The entry of every process that is not forked: picks the subcommand, turns errors into exit
// codes.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/descriptor.h"
#include "base/descriptor_limit.h"
#include "base/error.h"
#include "base/launch_channel.h"
#include "base/nearest.h"
#include "base/options/show.h"
#include "base/signals.h"
#include "base/start_thread.h"
#include "commands.h"

namespace odb {
namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
};

int help_command(const Arguments& arguments);

constexpr std::array kCommands = {
    Command{"bench", "measure one part of the trainer: bench lists them", bench_command},
    Command{"doctor", "check the machine and report problems", doctor_command},
#ifdef ODB_WITH_LIBTORCH
    Command{"export", "write a checkpoint's model as a folder that other tools load",
            export_command},
    Command{"generate", "let a model answer a prompt", generate_command},
#endif
    Command{"inspect", "show what records become, or what a model is: inspect data, inspect model",
            inspect_command},
#ifdef ODB_WITH_LIBTORCH
    Command{"launch", "start several ranks of train on this machine", launch_command},
#endif
    Command{"plan", "simulate the batching strategies on given lengths and compare them",
            plan_command},
    Command{"tokenize", "turn texts into token ids, or ids into texts", tokenize_command},
#ifdef ODB_WITH_LIBTORCH
    Command{"train", "fine-tune a model, as one rank of a run", train_command},
#endif
    Command{"version", "print the version and the git commit of this binary", version_command},
    Command{"help", "list the commands, or the options of one: help COMMAND", help_command}};

const Command& find_command(const std::string& name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  if (found != kCommands.end()) return *found;
  std::vector<std::string> known;
  known.reserve(kCommands.size());
  for (const Command& command : kCommands)
    known.emplace_back(command.name);
  throw UsageError("unknown command '{}'; {}", name,
                   did_you_mean(name, known, "odb-trainer help lists all"));
}

std::string commands_text() {
  constexpr size_t kColumn = 12;
  std::string text = "odb-trainer COMMAND [options]\n\ncommands:\n";
  for (const Command& command : kCommands) {
    const std::string summary = wrap(command.summary, kColumn, terminal_width());
    text += fmt::format("  {:<{}}{}\n", command.name, kColumn - 2, summary.substr(kColumn));
  }
  return text + "\nodb-trainer COMMAND --help lists the options of a command.\n";
}

int help_command(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> kHelp{"help", "--help", "-h"};
  if (arguments.empty() || std::ranges::find(kHelp, arguments[0]) != kHelp.end()) {
    fmt::print("{}", commands_text());
    return 0;
  }
  Arguments words(arguments.begin() + 1, arguments.end());
  words.emplace_back("--help");
  return find_command(arguments[0]).run(words);
}

int run(const Arguments& words) {
  if (words.empty()) throw UsageError("the command is missing\n\n{}", commands_text());
  const Arguments rest(words.begin() + 1, words.end());
  if (words[0] == "--help" || words[0] == "-h") return help_command(rest);
  if (words[0] == "--version") return version_command(rest);
  return find_command(words[0]).run(rest);
}

// Not with fmt, which throws if standard error cannot take the text either.
int fail(const Failure& failure) {
  if (!report_final_error(failure))
    std::fputs(("odb-trainer: " + failure.message + "\n").c_str(), stderr);
  return static_cast<int>(failure.code);
}

int fail_internally(const std::exception& error) {
  if (const auto refusal = thread_refusal(error)) return fail(refusal->failure());
  return fail(InternalError("internal error: {}", error.what()).failure());
}

int fail_output(int error_number) {
  // The reader has had enough, as in `| head`: no message, as if SIGPIPE had ended this process.
  if (error_number == EPIPE) return static_cast<int>(ExitCode::broken_pipe);
  return fail(FileError("cannot write to standard output: {}", errno_text(error_number)).failure());
}

}  // namespace
}  // namespace odb

int main(int argc, char** argv) {
  using namespace odb;
  open_standard_descriptors();
  ignore_write_signals();
  raise_descriptor_limit();
  try {
    const int code = run(Arguments(argv + 1, argv + argc));
    return std::fflush(stdout) == 0 ? code : fail_output(errno);
  } catch (const Error& error) {
    return fail(error.failure());
  } catch (const std::system_error& error) {
    // Thrown by fmt::print when a long text overflows the stream's buffer and cannot be written.
    if (std::ferror(stdout) != 0) return fail_output(error.code().value());
    return fail_internally(error);
  } catch (const std::exception& error) {
    return fail_internally(error);
  }
}
