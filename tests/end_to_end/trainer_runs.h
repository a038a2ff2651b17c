// Trainings as processes of the real binary: started, looked at, hit by signals and waited for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "temporary_folder.h"
#include "terminal.h"
#include "train/output/run_paths.h"

namespace odb {

// Longer than anything here takes on a busy machine; a test that gets there has failed.
inline constexpr std::chrono::seconds kMaxWait{120};

// Polls until it holds, at most kMaxWait; returns whether it did.
bool holds_in_time(const std::function<bool()>& holds);
// The same. Fails the test when it never does.
void await(const std::string& what, const std::function<bool()>& holds);

// How one rank of several is started.
struct RankStart {
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment = {};  // before what all get
  bool own_threads = false;    // without --threads: the rank's own choice
  bool one_processor = false;  // the rank may use only one
};

// One run: its folder, and the arguments that every run here begins with (a tiny model, few
// threads) unless it is given others.
class TrainerRun {
 public:
  TrainerRun() = default;
  // Kills what is left of it.
  ~TrainerRun();
  TrainerRun(const TrainerRun&) = delete;
  TrainerRun& operator=(const TrainerRun&) = delete;

  // A file of this many short texts, of lengths that differ; its path.
  std::string texts(const std::string& file, int rows) const;
  // Any file; its path.
  std::string write(const std::string& file, const std::string& bytes) const {
    return folder_.write(file, bytes);
  }

  // Starts `world` ranks of `train` that meet over a socket which rank 0 inherits.
  void start(int world, const std::vector<std::string>& arguments);
  // The same, each rank with its own arguments.
  void start_each(const std::vector<std::vector<std::string>>& arguments);
  void start_each(const std::vector<RankStart>& starts);
  // The same by `launch`, with options of its own; one process to be waited for.
  void launch(int world, const std::vector<std::string>& arguments,
              const std::vector<std::string>& launch_arguments = {});

  // The rank's own process, also below `launch`; 0 when it is gone.
  pid_t trainer(int rank) const;
  // The process of that number that is to be waited for: a rank, or launch. 0 when it is gone.
  pid_t process(int number) const;
  // The rank's fork server; 0 when there is none.
  pid_t fork_server(int rank) const;
  // What processes started from now on have as standard output and error, in place of a file: a
  // descriptor, or a terminal of their own, which outlives them.
  void write_to(int descriptor) { output_ = descriptor; }
  void write_to(const Terminal& terminal) { terminal_ = &terminal; }

  // To the process alone, not to its data processes.
  void send(int rank, int signal) const;
  // Whether the rank's process already has a handler for the signal.
  bool hears(int rank, int signal) const;
  // From now on no file that the rank writes grows beyond that; not those of its data processes.
  void limit_files(int rank, std::uint64_t bytes) const;
  // Stops the data processes of a rank for good.
  void stop_data(int rank) const;
  // The rank's workers and collate process, the oldest first; its fork server is none of them.
  std::vector<pid_t> data_processes(int rank) const;
  bool ended(int rank);
  // Whether one of the processes to be waited for has ended.
  bool any_ended();
  // Exit codes by rank (of `launch`: its own), -signal of those that a signal ended. Fails the test
  // when one does not end.
  std::vector<int> await_end();
  // The same of those that have ended so far, 0 for the others.
  std::vector<int> codes() const;
  // Fails the test when a process of the run, whatever its role, stays.
  void await_nothing_left() const;

  // What a rank has logged so far, in its file.
  std::string lines(int rank) const;
  std::string all_lines() const;
  // The file that the rank's lines are in: with `launch` that of all.
  std::string rank_lines(int rank) const { return lines(launched_ ? 0 : rank); }

  RunPaths paths() const { return RunPaths{folder_ / "run"}; }
  // Lines of metrics.jsonl so far.
  std::size_t logged_steps() const;
  std::vector<nlohmann::json> metrics() const;
  nlohmann::json summary() const;
  // The losses of metrics.jsonl.
  std::vector<double> losses() const;

 private:
  void spawn(const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment,
             bool one_processor = false);
  std::vector<std::string> whole(const std::vector<std::string>& arguments,
                                 bool own_threads = false) const;

  struct Process {
    pid_t number = 0;
    bool ended = false;
    int code = 0;
  };
  TemporaryFolder folder_;
  int output_ = -1;
  const Terminal* terminal_ = nullptr;
  std::vector<Process> processes_;
  bool launched_ = false;
};

// By start() and await_end(): the run is over, and well if `code` is what all ranks left with.
void run_to_end(TrainerRun& run, int world, const std::vector<std::string>& arguments,
                int code = 0);

// Every view of each of `epochs` epochs is in the ledgers once.
void check_coverage(const TrainerRun& run, std::int64_t epochs, std::int64_t data_size);
// The number of the last step in each rank's ledger.
std::map<int, std::int64_t> last_steps(const TrainerRun& run);
// The one checkpoint of the run, all checksums read: its folder. Fails the test when there is none.
std::string whole_checkpoint(const TrainerRun& run, std::int64_t step);
// All tensors of a safetensors file of fp32, by name.
std::map<std::string, std::vector<float>> float_tensors(const std::string& path);

}  // namespace odb
