#include "train/output/checkpoint.h"

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dist/sums.h"
#include "model/files/model_folder.h"
#include "model/files/safetensors.h"
#include "model/weights_io.h"
#include "train/output/checkpoint_files.h"
#include "train/output/checkpoint_space.h"
#include "train/output/data_state_json.h"
#include "train/session/failure_report.h"

namespace odb {
namespace {

void save_optimizer(FileSystem& files, const std::string& folder, const Optimizer& optimizer) {
  files.make_folders(folder);
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : optimizer.state()) {
    // On the host only while it is written.
    auto host = std::make_shared<torch::Tensor>();
    tensors.push_back({.name = name,
                       .type = TensorType::f32,
                       .shape = tensor.sizes().vec(),
                       .bytes = [tensor, host] {
                         *host = tensor.cpu().contiguous();
                         return std::string_view(static_cast<const char*>(host->const_data_ptr()),
                                                 host->nbytes());
                       }});
  }
  write_safetensors(files, join_path(folder, "state.safetensors"), tensors,
                    {{"updates", std::to_string(optimizer.updates())}});
}

std::string folder_of(FileSystem& files, const std::string& path) {
  return files.is_folder(path) ? path : parent_folder(path);
}

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

void write_parts(FileSystem& files, CheckpointDraft& draft, int rank,
                 const CheckpointContents& contents) {
  draft.write("data/" + rank_name(rank) + ".json", to_json(contents.data));
  if (rank != 0) return;
  save_model(files, draft.path(), contents.config, contents.weights);
  copy_auxiliary_files(files, contents.model, draft.path());
  if (contents.auxiliary_files != contents.model)
    copy_auxiliary_files(files, folder_of(files, contents.auxiliary_files), draft.path());
  save_optimizer(files, join_path(draft.path(), "optimizer"), contents.optimizer);
  draft.write("state.json", to_json(contents.run));
}

}  // namespace

std::string save_checkpoint(FileSystem& files, const RunPaths& paths, TrainingGroups& groups,
                            const CheckpointContents& contents) {
  const std::int64_t step = contents.run.totals.steps;
  const bool first = groups.rank() == 0;
  CheckpointDraft draft = CheckpointDraft::join(files, paths.checkpoints(), step);
  try {
    on_all_ranks(groups, [&] {
      if (first) (void)CheckpointDraft::begin(files, paths.checkpoints(), step);
    });
    on_all_ranks(groups, [&] { write_parts(files, draft, groups.rank(), contents); });
    on_all_ranks(groups, [&] {
      if (first) draft.publish();
    });
  } catch (const PeerLostError&) {
    throw;  // others may still be writing
  } catch (const OtherRankFailed&) {
    if (first) draft.discard();
    throw;
  } catch (const Error& error) {
    if (first) draft.discard();
    const std::uint64_t needed = bytes_of(contents.weights) + bytes_of(contents.optimizer.state());
    throw Error(error.code(), error.what() + lack_of_space(files, paths.checkpoints(), needed));
  } catch (const std::exception&) {
    if (first) draft.discard();
    throw;
  }
  return join_path(paths.checkpoints(), checkpoint_name(step));
}

}  // namespace odb
