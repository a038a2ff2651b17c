// What may happen to the data processes of a rank in the middle of a training, step by step. Each
// call waits for what it causes, and returns early when the run has ended.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rank_tree.h"

namespace odb {

class DataFaults {
 public:
  // `note` is called with each thing that is done. All must outlive it.
  DataFaults(TrainerRun& run, const RankTree& tree, std::function<void(const std::string&)> note);

  // Killed by somebody, and replaced: nothing is blamed for it.
  void kill_collate();
  void kill_worker(std::size_t index);  // collate, where no worker is

  // Stopped, and continued some milliseconds later.
  void pause_collate(int milliseconds);

  // A worker (collate, where there is none) is stopped for good, `times` times in a row, once it
  // has worked on one sample for long or, if there is none, soon; the fork server takes each for
  // hung and replaces it.
  void hang_worker(std::size_t index, int times);

  // From now on there is no memory for large samples: each process that makes one ends as one that
  // is out of memory. With `kill_collate`, collate dies in the beginning, so that its successor
  // asks for the samples of its round once more.
  void take_memory(bool kill_collate);
  void give_memory();

  // Polls for some time: the awaited event may never come.
  void pass_until(const std::function<bool()>& holds);

 private:
  std::optional<RankTree::Roles> settled();
  // Once none of these is there any more.
  std::optional<RankTree::Roles> replaced(const std::vector<pid_t>& processes);
  static void send(const std::vector<pid_t>& processes, int signal);

  TrainerRun& run_;
  const RankTree& tree_;
  std::function<void(const std::string&)> note_;
};

}  // namespace odb
