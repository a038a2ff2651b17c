#include "train/run_checkpoint.h"

#include "train/input_facts.h"
#include "train/output/checkpoint.h"

namespace odb {

StateOwner owner_of(const TrainingInputs& inputs) {
  return {.rank = inputs.launch.rank,
          .world = inputs.launch.world,
          .seed = inputs.options.loader.seed,
          .data_size = inputs.limits.data_size,
          .options = options_fingerprint(inputs.options.batching)};
}

std::string save_run(FileSystem& files, const TrainingInputs& inputs, Replica& replica,
                     TrainingGroups& groups, const RunSnapshot& run) {
  const RunOptions& options = inputs.options;
  return save_checkpoint(files, RunPaths{options.files.output}, groups,
                         {.model = replica.model(),
                          .optimizer = replica.optimizer(),
                          .run = {.totals = run.totals,
                                  .best = run.best,
                                  .evaluation_open = run.evaluation_open,
                                  .evaluated_step = run.evaluated_step,
                                  .world_size = inputs.launch.world,
                                  .seed = options.loader.seed,
                                  .data_size = inputs.limits.data_size,
                                  .life = run.life,
                                  .options = options_fingerprint(options.batching),
                                  .inputs = input_facts(inputs)},
                          .data = {.owner = owner_of(inputs), .state = run.data},
                          .tokenizer_folder = options.data.tokenizer,
                          .model_folder = options.model.model,
                          .answers = inputs.answers});
}

}  // namespace odb
