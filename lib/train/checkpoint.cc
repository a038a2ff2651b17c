#include "train/checkpoint.h"

#include <memory>
#include <vector>

#include "base/text.h"
#include "dist/sums.h"
#include "model/companions.h"
#include "model/safetensors.h"
#include "model/weights_io.h"
#include "train/checkpoint_files.h"
#include "train/data_state_json.h"

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

}  // namespace

std::string save_checkpoint(FileSystem& files, const RunPaths& paths, TrainingGroups& groups,
                            const CheckpointContents& contents) {
  const std::int64_t step = contents.run.totals.steps;
  const bool first = groups.rank() == 0;
  if (first) (void)CheckpointDraft::begin(files, paths.checkpoints(), step);
  await_all_ranks(groups);
  CheckpointDraft draft = CheckpointDraft::join(files, paths.checkpoints(), step);
  draft.write("data/" + rank_name(groups.rank()) + ".json", to_json(contents.data));
  if (first) {
    save_model(files, draft.path(), contents.config, contents.weights);
    copy_companions(files, contents.model, draft.path());
    if (contents.companions != contents.model)
      copy_companions(files, folder_of(files, contents.companions), draft.path());
    save_optimizer(files, join_path(draft.path(), "optimizer"), contents.optimizer);
    draft.write("state.json", to_json(contents.run));
  }
  await_all_ranks(groups);
  if (first) draft.publish();
  await_all_ranks(groups);
  return join_path(paths.checkpoints(), checkpoint_name(step));
}

}  // namespace odb
