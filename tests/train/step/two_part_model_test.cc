// The step, the reduction, the optimizer and a checkpoint with a model that is not a language
// model.
#include "two_part_model.h"

#include "catch.h"
#include "dist/training_ranks.h"
#include "faulty_file_system.h"
#include "train/output/checkpoint.h"
#include "train/step/training_step.h"

using namespace odb;
using torch::Tensor;

namespace {

MicroBatch batch_of(std::vector<std::int64_t> tokens, std::vector<std::int64_t> labels) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  return {.tokens = torch::tensor(tokens),
          .labels = torch::tensor(labels),
          .rows = RowOffsets::padded(1, count),
          .supervised = count};
}

// Of rank and micro-step, different lengths.
MicroBatch batch_of(int rank, int micro_step) {
  std::vector<std::int64_t> tokens, labels;
  for (int i = 0; i < 1 + rank + 2 * micro_step; ++i) {
    tokens.push_back(1 + i + 3 * rank);
    labels.push_back(2 + i * micro_step);
  }
  return batch_of(tokens, labels);
}

// d/dw of (sum over all ranks and micro-steps of (w c x)^2) / count, in fp64, by hand.
Tensor gradient_by_hand(const Tensor& weight, double scale, bool labels, int world) {
  double squares = 0;
  double count = 0;
  for (int rank = 0; rank < world; ++rank)
    for (int step = 0; step < 2; ++step) {
      const MicroBatch batch = batch_of(rank, step);
      const Tensor& values = labels ? batch.labels : batch.tokens;
      squares += values.to(torch::kDouble).square().sum().item<double>();
      count += static_cast<double>(batch.supervised);
    }
  return 2 * weight.detach().to(torch::kDouble) * scale * scale * squares / count;
}

}  // namespace

TEST_CASE("A model with two loss parts and a frozen parameter trains like a language model") {
  for (const int world : {1, 2}) {
    INFO(world << " ranks");
    CHECK(on_training_ranks(world, [&](TrainingGroups& groups) {
            TwoPartModel model;
            model.initialize(5);
            const Weights trained = trainable_weights(model);
            require(trained.size() == 2, "the frozen parameter is not trained");
            GradientReducer reducer(groups, trainable_tensors(model));
            const OptimizerOptions options{.optimizer = OptimizerKind::sgd};
            Optimizer optimizer(options, trained);
            DistributedStep step(loss_of(model), trained, groups, reducer, optimizer,
                                 {.max_grad_norm = 0});
            Weights before;
            for (const auto& [name, weight] : model.weights())
              before[name] = weight.detach().clone();
            SlotTotals totals;
            for (int micro_step = 0; micro_step < 2; ++micro_step) {
              const MicroBatch batch = batch_of(groups.rank(), micro_step);
              step.forward(&batch);
              step.backward(micro_step == 1);
              for (int rank = 0; rank < world; ++rank)
                totals.supervised += batch_of(rank, micro_step).supervised;
            }
            const StepUpdate update = step.update(totals, 0.125);
            require(update.updated && update.finite, "an update");
            require(model.weights().at("scale").equal(before["scale"]), "frozen");
            require(!model.weights().at("scale").grad().defined(), "no gradient of it");
            for (const auto& [name, scale] :
                 std::map<std::string, double>{{"video", 2}, {"action", 1}}) {
              const Tensor expected =
                  before[name].to(torch::kDouble) -
                  0.125 * gradient_by_hand(before[name], scale, name == "action", world);
              const Tensor found = model.weights().at(name).detach().to(torch::kDouble);
              require(torch::allclose(found, expected, 1e-5, 1e-6), name.c_str());
            }
          }) == no_faults(world));
  }
}

TEST_CASE("A loss part that counts other units than its micro-batch is refused by name") {
  TwoPartModel model;
  LossParts parts = model.loss(batch_of({1, 2}, {3, 4}));
  CHECK(sum_of(parts, 2).item<double>() == 0);
  parts[1].count = 3;
  CHECK_THROWS_WITH(sum_of(parts, 2), Catch::Contains("loss part action is over 3 units"));
}

TEST_CASE("A checkpoint holds a model of another kind by that model's own folder") {
  FaultyFileSystem files;
  TwoPartModel model;
  model.initialize(5);
  const Optimizer optimizer(OptimizerOptions{}, trainable_weights(model));
  const CheckpointContents contents{.model = model,
                                    .optimizer = optimizer,
                                    .run = {.totals = {.steps = 1}, .data_size = 1},
                                    .data = {},
                                    .tokenizer_folder = "/model",
                                    .model_folder = "/model"};
  CheckpointDraft draft = CheckpointDraft::begin(files, "/checkpoints", 1);
  write_snapshot(files, draft, take_snapshot(contents, 0, SnapshotTensors::copied));
  const std::string folder = draft.publish();
  TwoPartModel loaded;
  loaded.load(files, folder);
  for (const auto& [name, weight] : model.weights())
    CHECK(loaded.weights().at(name).equal(weight));
  for (const auto& [name, tensor] : read_optimizer_state(files, folder + "/optimizer").tensors)
    CHECK(name.find("scale") == std::string::npos);
}
