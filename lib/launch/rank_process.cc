#include "launch/rank_process.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/launch_channel.h"
#include "launch/launch_error.h"

namespace odb {
namespace {

// Descriptors for the rank. They close on exec unless handed on.
struct Handed {
  int output = -1;  // its standard output and error; -1: ours
  int phase = -1;
  int final_error = -1;
};

void set_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

void hand_on(const char* variable, int descriptor) {
  set_variable(variable, std::to_string(descriptor));
  ::fcntl(descriptor, F_SETFD, 0);  // survives the exec
}

// In the child.
[[noreturn]] void become_rank(int number, const RankCommand& command, const ListeningSocket& store,
                              const Handed& handed) {
  if (handed.output >= 0) {
    ::dup2(handed.output, STDOUT_FILENO);
    ::dup2(handed.output, STDERR_FILENO);
  }
  const std::string ranks = std::to_string(command.ranks);
  set_variable("RANK", std::to_string(number));
  set_variable("LOCAL_RANK", std::to_string(number));
  set_variable("WORLD_SIZE", ranks);
  set_variable("LOCAL_WORLD_SIZE", ranks);
  set_variable("MASTER_ADDR", "127.0.0.1");
  set_variable("MASTER_PORT", std::to_string(store.port));
  if (handed.phase >= 0) hand_on(kPhaseVariable, handed.phase);
  hand_on(kFinalErrorVariable, handed.final_error);
  if (number == 0) hand_on(kListeningSocketVariable, store.socket.get());
  std::vector<char*> arguments;
  std::string name = "odb-trainer";
  arguments.push_back(name.data());
  for (const std::string& word : command.arguments)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  // Without /proc: the path by which this program was started.
  const auto* const path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (path != nullptr) ::execv(path, arguments.data());
  const Failure failure =
      FileError(
          "launch: cannot start rank {} from {}: {}; mount /proc, or start odb-trainer by its "
          "whole path",
          number, path == nullptr ? "/proc/self/exe" : path, errno_text(errno))
          .failure();
  report_final_error(failure);
  ::_exit(static_cast<int>(failure.code));
}

}  // namespace

RankProcess start_rank(int number, const RankCommand& command, Descriptor log,
                       const ListeningSocket& store, const PassedSignals& signals) {
  RankProcess rank{.number = number, .log = std::move(log)};
  Descriptor lines;  // the writing end
  Handed handed;
  if (rank.log.open()) {
    handed.output = rank.log.get();
  } else if (number > 0) {
    Pipe pipe = make_pipe();
    rank.lines = RankLines(number, std::move(pipe.read));
    lines = std::move(pipe.write);
    handed.output = lines.get();
  }
  rank.phase = Descriptor(::memfd_create("phase", MFD_CLOEXEC));  // where it is forbidden: none
  Pipe final_error = make_pipe();
  rank.final_error = std::move(final_error.read);
  handed.phase = rank.phase.get();
  handed.final_error = final_error.write.get();
  const pid_t parent = ::getpid();
  rank.process = ::fork();
  if (rank.process < 0) fail_launch("cannot create a process");
  if (rank.process > 0) return rank;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::peer_lost));
  ::setpgid(0, 0);
  signals.give_back();
  become_rank(number, command, store, handed);
}

std::string last_phase(const RankProcess& rank) {
  char bytes[kMaxPhaseBytes + 1] = {};
  return ::pread(rank.phase.get(), bytes, kMaxPhaseBytes, 0) > 0 ? bytes : "";
}

std::optional<Failure> final_error_of(RankProcess& rank) {
  std::optional<Failure> failure = take_final_error(rank.final_error.get());
  if (rank.log.open() && failure) {
    const std::string line = failure->message + "\n";
    [[maybe_unused]] const auto written = ::write(rank.log.get(), line.data(), line.size());
  }
  return failure;
}

}  // namespace odb
