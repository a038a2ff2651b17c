#include "trainer_runs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/real_file_system.h"
#include "catch.h"
#include "model/files/safetensors.h"
#include "processes.h"
#include "texts.h"
#include "train/output/checkpoint_files.h"
#include "train/output/json_lines.h"
#include "train/output/ledger_file.h"

namespace odb {
namespace {

const std::string kModel = ODB_TESTS_FOLDER "/cases/models/base";
const std::string kTokenizer = ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs";

// Where ranks meet: a socket on a port that the system chose.
struct Listening {
  Listening() : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket, any, size) == 0);
    REQUIRE(::listen(socket, 64) == 0);
    REQUIRE(::getsockname(socket, any, &size) == 0);
    port = ntohs(address.sin_port);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { ::close(socket); }

  int socket;
  int port = 0;
};

// Where a process writes.
struct Output {
  int descriptor;  // -1: to `file`
  std::string file;
  const Terminal* terminal;  // null: none
};

// In the child: only calls that do not allocate.
void keep_one_processor() {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) ::_exit(1);
  int first = 0;
  while (!CPU_ISSET(first, &usable))
    ++first;
  CPU_ZERO(&usable);
  CPU_SET(first, &usable);
  if (::sched_setaffinity(0, sizeof usable, &usable) != 0) ::_exit(1);
}

[[noreturn]] void become(const Output& to, std::vector<char*>& arguments, char** environment,
                         pid_t parent, bool one_processor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);  // as from a shell, whatever this program was started by
  if (one_processor) keep_one_processor();
  if (to.terminal != nullptr) {
    to.terminal->take();
  } else {
    ::setpgid(0, 0);
    const int output = to.descriptor >= 0
                           ? to.descriptor
                           : ::open(to.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  ::execve(ODB_TRAINER, arguments.data(), environment);
  ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

bool holds_in_time(const std::function<bool()>& holds) {
  const auto ends = std::chrono::steady_clock::now() + kMaxWait;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > ends) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void await(const std::string& what, const std::function<bool()>& holds) {
  INFO(what);
  REQUIRE(holds_in_time(holds));
}

TrainerRun::~TrainerRun() {
  for (const Process& process : processes_) {
    if (process.ended) continue;
    ::kill(-process.number, SIGKILL);
    ::waitpid(process.number, nullptr, 0);
  }
}

std::string TrainerRun::texts(const std::string& file, int rows) const {
  std::string text;
  for (int row = 0; row < rows; ++row) {
    std::string arguments;
    for (int word = 0; word <= row % 7; ++word)
      arguments += " pier " + std::to_string(row * 7 + word);
    text += nlohmann::json{{"text", "The ferry leaves" + arguments}}.dump() + "\n";
  }
  return folder_.write(file, text);
}

std::vector<std::string> TrainerRun::whole(const std::vector<std::string>& arguments,
                                           bool own_threads) const {
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"--model", kModel},          {"--tokenizer", kTokenizer}, {"--chat-template", "chatml"},
      {"--output", paths().folder}, {"--device", "cpu"},         {"--threads", "1"},
      {"--data-workers", "0"},      {"--console", "lines"}};
  std::vector<std::string> all = {"train"};
  for (const auto& [flag, value] : defaults)
    if (std::ranges::find(arguments, flag) == arguments.end() &&
        !(own_threads && flag == "--threads"))
      all.insert(all.end(), {flag, value});
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

void TrainerRun::spawn(const std::vector<std::string>& arguments,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       bool one_processor) {
  std::vector<std::string> command = {ODB_TRAINER};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment)
    variables.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  std::vector<char*> command_pointers = pointers_to(command);
  std::vector<char*> variable_pointers = pointers_to(variables);
  const Output to{.descriptor = output_,
                  .file = folder_ / ("lines-" + std::to_string(processes_.size())),
                  .terminal = terminal_};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) become(to, command_pointers, variable_pointers.data(), parent, one_processor);
  // The child does so, too: whoever comes first. One with a terminal leads its group by its
  // session.
  if (terminal_ == nullptr) ::setpgid(child, child);
  processes_.push_back({.number = child});
}

void TrainerRun::start(int world, const std::vector<std::string>& arguments) {
  start_each(std::vector(static_cast<std::size_t>(world), arguments));
}

void TrainerRun::start_each(const std::vector<std::vector<std::string>>& arguments) {
  std::vector<RankStart> starts;
  for (const auto& of_rank : arguments)
    starts.push_back({.arguments = of_rank});
  start_each(starts);
}

void TrainerRun::start_each(const std::vector<RankStart>& starts) {
  const Listening listening;
  const int world = static_cast<int>(starts.size());
  for (int rank = 0; rank < world; ++rank) {
    const RankStart& start = starts[static_cast<std::size_t>(rank)];
    auto environment = start.environment;
    const std::vector<std::pair<std::string, std::string>> of_all = {
        {"RANK", std::to_string(rank)},        {"LOCAL_RANK", std::to_string(rank)},
        {"WORLD_SIZE", std::to_string(world)}, {"LOCAL_WORLD_SIZE", std::to_string(world)},
        {"MASTER_ADDR", "127.0.0.1"},          {"MASTER_PORT", std::to_string(listening.port)}};
    environment.insert(environment.end(), of_all.begin(), of_all.end());
    if (rank == 0)
      environment.emplace_back("ODB_LISTENING_SOCKET", std::to_string(listening.socket));
    ::fcntl(listening.socket, F_SETFD, rank == 0 ? 0 : FD_CLOEXEC);
    spawn(whole(start.arguments, start.own_threads), environment, start.one_processor);
  }
}

void TrainerRun::launch(int world, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& launch_arguments) {
  std::vector<std::string> all = {"launch", "--nproc", std::to_string(world)};
  all.insert(all.end(), launch_arguments.begin(), launch_arguments.end());
  all.emplace_back("--");
  for (const std::string& word : whole(arguments))
    all.push_back(word);
  launched_ = true;
  spawn(all, {});
}

pid_t TrainerRun::trainer(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  if (!launched_) return processes_[index].ended ? 0 : processes_[index].number;
  const std::string variable = '\0' + ("RANK=" + std::to_string(rank)) + '\0';
  for (const SeenProcess& seen : all_processes())
    if (seen.parent == processes_.front().number &&
        content_of("/proc/" + std::to_string(seen.process) + "/environ").find(variable) !=
            std::string::npos)
      return seen.process;
  return 0;
}

pid_t TrainerRun::process(int number) const {
  const Process& process = processes_[static_cast<std::size_t>(number)];
  return process.ended ? 0 : process.number;
}

pid_t TrainerRun::fork_server(int rank) const {
  for (const SeenProcess& seen : all_processes())
    if (seen.parent == processes_[static_cast<std::size_t>(rank)].number && seen.state != 'Z')
      return seen.process;
  return 0;
}

void TrainerRun::send(int rank, int signal) const {
  const Process& process = processes_[static_cast<std::size_t>(rank)];
  if (!process.ended) ::kill(process.number, signal);
}

bool TrainerRun::hears(int rank, int signal) const {
  const pid_t process = processes_[static_cast<std::size_t>(rank)].number;
  const std::string status = content_of("/proc/" + std::to_string(process) + "/status");
  const std::string name = "SigCgt:\t";  // a mask in hexadecimal
  const std::size_t found = status.find(name);
  if (found == std::string::npos) return false;
  const std::uint64_t caught = std::stoull(status.substr(found + name.size(), 16), nullptr, 16);
  return (caught >> (signal - 1) & 1) != 0;
}

void TrainerRun::limit_files(int rank, std::uint64_t bytes) const {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  const pid_t process = processes_[static_cast<std::size_t>(rank)].number;
  REQUIRE(::prlimit(process, RLIMIT_FSIZE, &limit, nullptr) == 0);
}

void TrainerRun::stop_data(int rank) const {
  const pid_t process = processes_[static_cast<std::size_t>(rank)].number;
  ::kill(-process, SIGSTOP);
  ::kill(process, SIGCONT);
}

std::vector<pid_t> TrainerRun::data_processes(int rank) const {
  const pid_t trainer = processes_[static_cast<std::size_t>(rank)].number;
  std::vector<pid_t> found;
  for (const SeenProcess& seen : all_processes())
    if (seen.group == trainer && seen.process != trainer && seen.parent != trainer &&
        seen.state != 'Z')
      found.push_back(seen.process);
  return found;
}

bool TrainerRun::ended(int rank) {
  Process& process = processes_[static_cast<std::size_t>(rank)];
  int status = 0;
  if (!process.ended && ::waitpid(process.number, &status, WNOHANG) == process.number) {
    process.ended = true;
    process.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  return process.ended;
}

bool TrainerRun::any_ended() {
  bool any = false;
  for (std::size_t i = 0; i < processes_.size(); ++i)
    any = ended(static_cast<int>(i)) || any;
  return any;
}

std::vector<int> TrainerRun::await_end() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    INFO(all_lines());
    await("process " + std::to_string(i) + " ends", [&] { return ended(static_cast<int>(i)); });
  }
  return codes();
}

std::vector<int> TrainerRun::codes() const {
  std::vector<int> codes;
  for (const Process& process : processes_)
    codes.push_back(process.code);
  return codes;
}

void TrainerRun::await_nothing_left() const {
  await("all processes of the run are gone",
        [&] { return processes_with(folder_.path()).empty(); });
}

std::string TrainerRun::lines(int rank) const {
  return content_of(folder_ / ("lines-" + std::to_string(rank)));
}

std::string TrainerRun::all_lines() const {
  std::string all;
  for (std::size_t i = 0; i < processes_.size(); ++i)
    all += "--- process " + std::to_string(i) + "\n" + lines(static_cast<int>(i));
  return all;
}

std::size_t TrainerRun::logged_steps() const {
  const std::string text = content_of(paths().metrics());
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::vector<nlohmann::json> TrainerRun::metrics() const {
  std::vector<nlohmann::json> lines;
  std::ifstream file(paths().metrics());
  for (std::string line; std::getline(file, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

nlohmann::json TrainerRun::summary() const {
  return nlohmann::json::parse(content_of(paths().summary()));
}

std::vector<double> TrainerRun::losses() const {
  std::vector<double> losses;
  for (const auto& line : metrics())
    losses.push_back(line.at("loss"));
  return losses;
}

void run_to_end(TrainerRun& run, int world, const std::vector<std::string>& arguments, int code) {
  run.start(world, arguments);
  const std::vector<int> codes = run.await_end();
  INFO(run.all_lines());
  REQUIRE(codes == std::vector<int>(static_cast<std::size_t>(world), code));
}

void check_coverage(const TrainerRun& run, std::int64_t epochs, std::int64_t data_size) {
  RealFileSystem files;
  const auto coverage = ledger_coverage(files, run.paths().ledgers(), data_size);
  CHECK(static_cast<std::int64_t>(coverage.size()) == epochs);
  for (const auto& [epoch, found] : coverage) {
    INFO("epoch " << epoch);
    CHECK(found.every_view_once());
  }
}

std::map<int, std::int64_t> last_steps(const TrainerRun& run) {
  RealFileSystem files;
  std::map<int, std::int64_t> steps;
  read_ledgers(files, run.paths().ledgers(), [&](int rank, const LedgerRecord& record) {
    if (const auto* step = std::get_if<StepRecord>(&record))
      steps[rank] = std::max(steps[rank], step->step);
  });
  return steps;
}

std::string whole_checkpoint(const TrainerRun& run, std::int64_t step) {
  RealFileSystem files;
  const CheckpointList found =
      list_checkpoints(files, run.paths().checkpoints(), Verify::checksums);
  CHECK(found.skipped.empty());
  REQUIRE(found.valid.size() == 1);
  CHECK(found.valid.front().step == step);
  return found.valid.front().path;
}

std::map<std::string, std::vector<float>> float_tensors(const std::string& path) {
  RealFileSystem files;
  const std::string bytes = files.read_all(path);
  std::map<std::string, std::vector<float>> tensors;
  for (const TensorInfo& info : read_safetensors_header(files, path).tensors) {
    REQUIRE(info.type == TensorType::f32);
    std::vector<float>& values = tensors[info.name];
    values.resize(info.bytes() / sizeof(float));
    std::memcpy(values.data(), bytes.data() + info.begin, info.bytes());
  }
  return tensors;
}

}  // namespace odb
