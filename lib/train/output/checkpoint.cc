#include "train/output/checkpoint.h"

#include <exception>
#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "dist/sums.h"
#include "model/files/model_folder.h"
#include "train/output/checkpoint_space.h"
#include "train/output/data_state_json.h"

namespace odb {
namespace {

std::uint64_t bytes_of(const std::map<std::string, torch::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors)
    bytes += static_cast<std::uint64_t>(tensor.numel()) * sizeof(float);
  return bytes;
}

// Each rank does its part. Then all ranks learn whether every part succeeded.
void on_all_ranks(TrainingGroups& groups, const std::function<void()>& part) {
  std::exception_ptr failure;
  try {
    part();
  } catch (const std::exception&) {  // also errors of LibTorch, and std::bad_alloc
    failure = std::current_exception();
  }
  const double failures = sum_over_ranks(groups, {failure ? 1.0 : 0.0}).front();
  if (failure) std::rethrow_exception(failure);
  if (failures > 0)
    throw OtherRankFailed(ExitCode::files, "another rank could not write its part of a checkpoint");
}

std::string data_file(int rank) {
  return "data/" + rank_name(rank) + ".json";
}

std::vector<std::string> data_files(int world) {
  std::vector<std::string> names;
  for (int rank = 0; rank < world; ++rank)
    names.push_back(data_file(rank));
  return names;
}

std::map<std::string, torch::Tensor> taken(const std::map<std::string, torch::Tensor>& tensors,
                                           SnapshotTensors how) {
  if (how == SnapshotTensors::referred) return tensors;
  std::map<std::string, torch::Tensor> copies;
  for (const auto& [name, tensor] : tensors)
    copies[name] = tensor.detach().to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true);
  return copies;
}

}  // namespace

CheckpointSnapshot take_snapshot(const CheckpointContents& contents, int rank,
                                 SnapshotTensors tensors) {
  CheckpointSnapshot snapshot{.rank = rank,
                              .model = &contents.model,
                              .weights = {},
                              .optimizer = {},
                              .run = contents.run,
                              .data = contents.data,
                              .tokenizer_folder = contents.tokenizer_folder,
                              .model_folder = contents.model_folder,
                              .answers = contents.answers};
  if (rank != 0) return snapshot;
  snapshot.weights = taken(contents.model.weights(), tensors);
  snapshot.optimizer = {.tensors = taken(contents.optimizer.state(), tensors),
                        .updates = contents.optimizer.updates()};
  return snapshot;
}

void write_snapshot(FileSystem& files, CheckpointDraft& draft, const CheckpointSnapshot& snapshot) {
  draft.write(data_file(snapshot.rank), to_json(snapshot.data));
  if (snapshot.rank != 0) return;
  snapshot.model->save(files, draft.path(), snapshot.weights);
  if (snapshot.tokenizer_folder == snapshot.model_folder)
    copy_auxiliary_files(files, snapshot.model_folder, draft.path());
  else
    copy_auxiliary_files(files, snapshot.model_folder, snapshot.tokenizer_folder, draft.path());
  write_answer_files(files, snapshot.answers, draft.path());
  write_optimizer_state(files, join_path(draft.path(), "optimizer"), snapshot.optimizer);
  draft.write("state.json", to_json(snapshot.run));
}

std::string save_checkpoint(FileSystem& files, const RunPaths& paths, TrainingGroups& groups,
                            const CheckpointContents& contents) {
  const std::int64_t step = contents.run.totals.steps;
  const bool first = groups.rank() == 0;
  CheckpointDraft draft = CheckpointDraft::join(files, paths.checkpoints(), step);
  const bool kept = first && has_checkpoint(files, paths.checkpoints(), step);
  if (sum_over_ranks(groups, {kept ? 1.0 : 0.0}).front() > 0)
    return join_path(paths.checkpoints(), checkpoint_name(step));
  try {
    on_all_ranks(groups, [&] {
      if (first) (void)CheckpointDraft::begin(files, paths.checkpoints(), step);
    });
    on_all_ranks(groups, [&] {
      write_snapshot(files, draft,
                     take_snapshot(contents, groups.rank(), SnapshotTensors::referred));
    });
    on_all_ranks(groups, [&] {
      if (first) draft.publish(data_files(groups.world()));
    });
  } catch (const PeerLostError&) {
    throw;  // others may still be writing
  } catch (const OtherRankFailed&) {
    if (first) draft.discard();
    throw;
  } catch (const Error& error) {
    if (first) draft.discard();
    const std::uint64_t needed =
        bytes_of(contents.model.weights()) + bytes_of(contents.optimizer.state());
    throw Error(error.code(), error.what() + lack_of_space(files, paths.checkpoints(), needed));
  } catch (const std::exception&) {
    if (first) draft.discard();
    throw;
  }
  return join_path(paths.checkpoints(), checkpoint_name(step));
}

}  // namespace odb
