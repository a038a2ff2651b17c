#include "train/run_checkpoint.h"

#include "train/input_facts.h"
#include "train/output/checkpoint.h"

namespace odb {

std::string save_run(FileSystem& files, const TrainingInputs& inputs, Replica& replica,
                     TrainingGroups& groups, const RunSnapshot& run) {
  const RunOptions& options = inputs.options;
  const std::string fingerprint = options_fingerprint(options.batching);
  return save_checkpoint(files, RunPaths{options.files.output}, groups,
                         {.model = replica.model(),
                          .optimizer = replica.optimizer(),
                          .run = {.totals = run.totals,
                                  .best = run.best,
                                  .world_size = inputs.launch.world,
                                  .seed = options.loader.seed,
                                  .data_size = inputs.limits.data_size,
                                  .life = run.life,
                                  .options = fingerprint,
                                  .inputs = input_facts(inputs)},
                          .data = {.owner = {.rank = inputs.launch.rank,
                                             .world = inputs.launch.world,
                                             .seed = options.loader.seed,
                                             .data_size = inputs.limits.data_size,
                                             .options = fingerprint},
                                   .state = run.data},
                          .tokenizer_folder = options.data.tokenizer,
                          .model_folder = options.model.model,
                          .answers = inputs.answers});
}

}  // namespace odb
