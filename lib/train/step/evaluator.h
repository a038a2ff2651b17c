// Evaluation: the loss on held-out data over all ranks. Each token counts the same.
//
// Each rank reads its own share of a file with its own data processes, which are forked for it and
// end after it; those of training are not affected. Ranks do not run in step: the only collective
// is one sum at the end.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "data/loader/processes/data_processes.h"
#include "dist/training_groups.h"
#include "train/session/stop_request.h"
#include "train/step/training_step.h"

namespace odb {

struct EvaluationResult {
  std::string data;  // the file, as --eval-data names it
  double loss = 0;   // mean over supervised tokens; NaN if there are none
  double perplexity = 0;
  std::int64_t supervised_tokens = 0;
  std::int64_t samples = 0;

  friend bool operator==(const EvaluationResult&, const EvaluationResult&) = default;
};

// Over all files together; each token counts the same.
double overall_loss(const std::vector<EvaluationResult>& results);

class Evaluator {
 public:
  // Loader first_loader + i of `processes` (not at_start) reads data[i]. All references must
  // outlive it.
  Evaluator(DataProcesses& processes, std::size_t first_loader, std::vector<std::string> data,
            LossFunction loss, torch::Device device, TrainingGroups& groups, StopRequest& stop);

  // Evaluates all files once. Collective. Nothing: a rank was asked to stop. If a rank's data
  // fails, all ranks throw: its Error there, OtherRankFailed elsewhere. PeerLostError.
  std::optional<std::vector<EvaluationResult>> run();

 private:
  struct Sums {
    double loss = 0;
    std::int64_t tokens = 0, samples = 0;
    bool stopped = false;
    std::exception_ptr failure;
  };

  Sums go_through(std::size_t loader);
  void add_up(std::size_t loader, Sums& sums);

  DataProcesses& processes_;
  std::size_t first_loader_;
  std::vector<std::string> data_;
  LossFunction loss_;
  MicroBatchBuilder builder_;
  TrainingGroups& groups_;
  StopRequest& stop_;
};

}  // namespace odb
