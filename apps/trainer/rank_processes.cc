#include "rank_processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/error.h"
#include "base/log.h"
#include "last_words.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  throw FileError("launch: {}: {}", what, errno_text(errno));
}

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("no pipe to be had");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void print_line(int rank, const std::string& line) {
  std::fputs(fmt::format("[{}] {}\n", rank, line).c_str(), stderr);
}

// On a port that the system chose.
struct ListeningSocket {
  Descriptor socket;
  int port = 0;
};

ListeningSocket listen_here() {
  ListeningSocket listening{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  constexpr int kWaiting = 1024;
  if (!listening.socket.open() || ::bind(listening.socket.get(), any, size) != 0 ||
      ::listen(listening.socket.get(), kWaiting) != 0 ||
      ::getsockname(listening.socket.get(), any, &size) != 0)
    fail("no port to listen at");
  listening.port = ntohs(address.sin_port);
  return listening;
}

// The signals that are passed on, read one by one instead of handled.
class PassedSignals {
 public:
  PassedSignals() {
    sigset_t passed;
    ::sigemptyset(&passed);
    for (const int number : {SIGTERM, SIGUSR1, SIGINT})
      ::sigaddset(&passed, number);
    ::sigprocmask(SIG_BLOCK, &passed, &before_);
    descriptor_ = Descriptor(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor_.open()) fail("no signals to be had");
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;
  ~PassedSignals() { give_back(); }

  void give_back() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  int descriptor() const { return descriptor_.get(); }
  std::optional<int> next() const {
    signalfd_siginfo info = {};
    if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_ = {};
  Descriptor descriptor_;
};

struct Rank {
  int number = 0;
  pid_t process = 0;      // 0: it has ended
  Descriptor lines;       // its standard error and output
  std::string begun;      // a line that is not whole yet
  Descriptor last_words;  // read once it has ended
};

class Ranks {
 public:
  explicit Ranks(const RankProcessesOptions& options) : options_(options), store_(listen_here()) {
    for (int rank = 0; rank < options.ranks; ++rank)
      start(rank);
  }
  ~Ranks() { kill_all(); }

  std::vector<RankEnd> await_all() {
    while (std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.process != 0; })) {
      await_something();
      while (const auto signal = signals_.next())
        pass_on(*signal);
      for (Rank& rank : ranks_)
        read_lines(rank);
      reap();
      if (failed_at_ && !killed_ && Clock::now() - *failed_at_ > options_.patience) kill_all();
    }
    for (Rank& rank : ranks_)
      read_lines(rank);
    tell_last_words();
    return ends_;
  }

 private:
  void start(int number);
  [[noreturn]] void become(int number, int output, int last_words) const;
  Descriptor log_file(int number) const;
  void await_something();
  void pass_on(int signal);
  void read_lines(Rank& rank);
  void reap();
  void kill_all();
  void tell_last_words();

  const RankProcessesOptions& options_;
  PassedSignals signals_;
  ListeningSocket store_;
  std::vector<Rank> ranks_;
  std::vector<RankEnd> ends_;
  std::optional<Clock::time_point> failed_at_;
  bool killed_ = false;
};

void Ranks::start(int number) {
  Rank rank{.number = number};
  Descriptor output = log_file(number);
  if (!output.open() && number > 0) {
    Pipe lines = make_pipe();
    rank.lines = std::move(lines.read);
    output = std::move(lines.write);
    ::fcntl(rank.lines.get(), F_SETFL, O_NONBLOCK);
  }
  Pipe last_words = make_pipe();
  rank.last_words = std::move(last_words.read);
  ::fcntl(rank.last_words.get(), F_SETFL, O_NONBLOCK);
  rank.process = ::fork();
  if (rank.process < 0) fail("no process to be had");
  if (rank.process == 0) become(number, output.get(), last_words.write.get());
  ranks_.push_back(std::move(rank));
}

Descriptor Ranks::log_file(int number) const {
  if (options_.log_folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(options_.log_folder, error);
  const std::string path = fmt::format("{}/rank-{:05}.log", options_.log_folder, number);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.open()) throw FileError("launch: {}: {}", path, errno_text(errno));
  return file;
}

// In the child.
void Ranks::become(int number, int output, int last_words) const {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ExitCode::peer_lost));
  ::setpgid(0, 0);
  signals_.give_back();
  if (output >= 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
  };
  const std::string ranks = std::to_string(options_.ranks);
  set("RANK", std::to_string(number));
  set("LOCAL_RANK", std::to_string(number));
  set("WORLD_SIZE", ranks);
  set("LOCAL_WORLD_SIZE", ranks);
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(store_.port));
  set(kLastWordsVariable, std::to_string(last_words));
  ::fcntl(last_words, F_SETFD, 0);  // survives the exec
  if (number == 0) {
    set("ODB_LISTENING_SOCKET", std::to_string(store_.socket.get()));
    ::fcntl(store_.socket.get(), F_SETFD, 0);  // survives the exec
  }
  std::vector<char*> words;
  std::string name = "odb-trainer";
  words.push_back(name.data());
  for (const std::string& word : options_.words)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());
  ::_exit(static_cast<int>(ExitCode::internal));
}

// Lines, a signal, or 50 ms.
void Ranks::await_something() {
  std::vector<pollfd> watched{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const Rank& rank : ranks_)
    if (rank.lines.open())
      watched.push_back({.fd = rank.lines.get(), .events = POLLIN, .revents = 0});
  ::poll(watched.data(), watched.size(), 50);
}

void Ranks::pass_on(int signal) {
  for (const Rank& rank : ranks_)
    if (rank.process != 0) ::kill(rank.process, signal);
}

void Ranks::read_lines(Rank& rank) {
  char bytes[4096];
  while (rank.lines.open()) {
    const ssize_t count = ::read(rank.lines.get(), bytes, sizeof bytes);
    if (count < 0) return;  // nothing more now
    if (count == 0) {
      if (!rank.begun.empty()) print_line(rank.number, std::exchange(rank.begun, ""));
      rank.lines = Descriptor();
      return;
    }
    rank.begun.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = rank.begun.find('\n')) != std::string::npos;) {
      print_line(rank.number, rank.begun.substr(0, end));
      rank.begun.erase(0, end + 1);
    }
  }
}

void Ranks::reap() {
  for (Rank& rank : ranks_) {
    int status = 0;
    if (rank.process == 0 || ::waitpid(rank.process, &status, WNOHANG) != rank.process) continue;
    rank.process = 0;
    RankEnd end{.rank = rank.number, .code = WEXITSTATUS(status), .ours = killed_};
    if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
      end.code = static_cast<int>(ExitCode::peer_lost);
      if (!killed_)
        log("launch").error("rank {} was killed by signal {} ({})", rank.number, end.signal,
                            ::strsignal(end.signal));
    }
    if (end.code != 0 && end.code != static_cast<int>(ExitCode::saved) && !failed_at_)
      failed_at_ = Clock::now();
    ends_.push_back(end);
  }
}

void Ranks::kill_all() {
  killed_ = true;
  for (const Rank& rank : ranks_) {
    if (rank.process == 0) continue;
    log("launch").warn("killing rank {}: another rank has failed and this one does not end",
                       rank.number);
    ::kill(-rank.process, SIGKILL);
  }
}

// In the order in which the ranks ended; what several say is told once, by the first.
void Ranks::tell_last_words() {
  std::set<std::string> told;
  for (const RankEnd& end : ends_) {
    Rank& rank = ranks_[static_cast<std::size_t>(end.rank)];
    std::string words;
    char bytes[4096];
    for (ssize_t count; (count = ::read(rank.last_words.get(), bytes, sizeof bytes)) > 0;)
      words.append(bytes, static_cast<std::size_t>(count));
    if (words.empty() || !told.insert(words).second) continue;
    std::fputs((rank.number == 0 ? words : fmt::format("[{}] {}", rank.number, words)).c_str(),
               stderr);
  }
}

}  // namespace

int launch_code(const std::vector<RankEnd>& ends) {
  constexpr int kSaved = static_cast<int>(ExitCode::saved);
  for (const RankEnd& end : ends)
    if (end.code != 0 && end.code != kSaved && !end.ours) return end.code;
  const auto saved = std::ranges::count(ends, kSaved, &RankEnd::code);
  if (saved == 0) return 0;
  // Ranks decide together; some that did and some that did not is a fault.
  return saved == static_cast<std::ptrdiff_t>(ends.size()) ? kSaved
                                                           : static_cast<int>(ExitCode::internal);
}

std::vector<RankEnd> run_rank_processes(const RankProcessesOptions& options) {
  return Ranks(options).await_all();
}

}  // namespace odb
