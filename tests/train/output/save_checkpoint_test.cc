// Saves of several ranks that cannot be completed: all ranks learn of it, and nothing of it stays.
#include <cerrno>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "dist/training_ranks.h"
#include "faulty_file_system.h"
#include "model/golden_models.h"
#include "train/output/checkpoint.h"
#include "train/output/checkpoint_files.h"

using namespace odb;

namespace {

struct Saved {
  std::optional<ExitCode> codes[2];  // of what was thrown; internal: no Error at all
  std::string said[2];
};

// Two ranks save step 7 of a small model; or of one whose weights are not there, on rank 0.
Saved save(FaultyFileSystem& files, bool without_weights = false) {
  Saved saved;
  const LanguageModel model = load_model(kGoldenModels + "qwen3_untied");
  const LanguageModel none(model.config(), {}, torch::kMeta);
  const Optimizer optimizer(OptimizerOptions{}, model.weights());
  CHECK(on_training_ranks(2, [&](TrainingGroups& groups) {
          const auto rank = static_cast<std::size_t>(groups.rank());
          try {
            save_checkpoint(files, RunPaths{"/run"}, groups,
                            {.model = without_weights && rank == 0 ? none : model,
                             .optimizer = optimizer,
                             .run = {.totals = {.steps = 7}, .data_size = 1},
                             .data = {},
                             .tokenizer_folder = "/model",
                             .model_folder = "/model"});
          } catch (const Error& error) {
            saved.codes[rank] = error.code();
            saved.said[rank] = error.what();
          } catch (const std::exception& error) {
            saved.codes[rank] = ExitCode::internal;
            saved.said[rank] = error.what();
          }
        }) == no_faults(2));
  return saved;
}

void check_nothing_stays(FaultyFileSystem& files) {
  CHECK(files.list("/run/checkpoints").empty());
  files.set_capacity(std::uint64_t{1} << 40);
  const Saved again = save(files);  // and the next one succeeds
  CHECK_FALSE(again.codes[0]);
  CHECK_FALSE(again.codes[1]);
  CHECK(newest_checkpoint(files, "/run/checkpoints")->step == 7);
}

}  // namespace

TEST_CASE("A save that fills the disk ends with what it takes and what is free, on all ranks") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  files.set_capacity(20000);
  const Saved saved = save(files);
  CHECK(saved.codes[0] == ExitCode::files);
  CHECK(saved.codes[1] == ExitCode::files);
  CHECK_THAT(saved.said[0],
             Catch::Contains("/run/checkpoints/step-00000007.tmp/model.safetensors"));
  CHECK_THAT(saved.said[0], Catch::Contains("No space left on device"));
  CHECK_THAT(saved.said[0], Catch::Contains("a checkpoint takes about "));
  CHECK_THAT(saved.said[0], Catch::Contains("(20000 bytes) free"));
  check_nothing_stays(files);
}

TEST_CASE("A step that is saved already is kept, also by a second save") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  for (int time = 0; time < 2; ++time) {
    const Saved saved = save(files);
    CHECK_FALSE(saved.codes[0]);
    CHECK_FALSE(saved.codes[1]);
    CHECK(files.list("/run/checkpoints") == std::vector<std::string>{"step-00000007"});
    CHECK(newest_checkpoint(files, "/run/checkpoints")->step == 7);
    files.set_capacity(0);  // the second one needs none
  }
}

TEST_CASE("A save of which another rank cannot write its part ends on all ranks") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  files.fail_next(FaultyFileSystem::Call::open, EIO, "rank-00001.json");
  const Saved saved = save(files);
  CHECK(saved.codes[0] == ExitCode::files);
  CHECK_THAT(saved.said[0], Catch::Contains("another rank"));
  CHECK(saved.codes[1] == ExitCode::files);
  CHECK_THAT(saved.said[1], Catch::Contains("data/rank-00001.json"));
  CHECK(saved.said[1].find("a checkpoint takes") == std::string::npos);  // there is room
  check_nothing_stays(files);
}

TEST_CASE("A save whose last step fails ends on all ranks") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  files.fail_next(FaultyFileSystem::Call::rename, EIO, "MANIFEST.json");
  const Saved saved = save(files);
  CHECK(saved.codes[0] == ExitCode::files);
  CHECK_THAT(saved.said[0], Catch::Contains("MANIFEST.json"));
  CHECK(saved.codes[1] == ExitCode::files);
  CHECK_THAT(saved.said[1], Catch::Contains("another rank"));
  check_nothing_stays(files);
}

TEST_CASE("A save that fails with an error of LibTorch ends on all ranks") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  const Saved saved = save(files, true);
  CHECK(saved.codes[0] == ExitCode::internal);
  CHECK_THAT(saved.said[0], Catch::Contains("meta tensor"));
  CHECK(saved.codes[1] == ExitCode::files);
  CHECK_THAT(saved.said[1], Catch::Contains("another rank"));
  check_nothing_stays(files);
}

TEST_CASE("A snapshot keeps what it was taken of, and gives equal bytes when it is written again") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints");
  const LanguageModel model = load_model(kGoldenModels + "qwen3_untied");
  const Optimizer optimizer(OptimizerOptions{}, model.weights());
  const CheckpointContents contents{.model = model,
                                    .optimizer = optimizer,
                                    .run = {.totals = {.steps = 7}, .data_size = 1},
                                    .data = {},
                                    .tokenizer_folder = "/model",
                                    .model_folder = "/model"};
  const CheckpointSnapshot snapshot = take_snapshot(contents, 0, SnapshotTensors::copied);
  CheckpointDraft first = CheckpointDraft::begin(files, "/run/checkpoints", 7);
  write_snapshot(files, first, snapshot);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.weights())
    torch::Tensor(weight).fill_(1);
  for (const auto& [name, tensor] : optimizer.state())
    torch::Tensor(tensor).fill_(2);
  CheckpointDraft second = CheckpointDraft::begin(files, "/other", 7);
  std::thread([&] { write_snapshot(files, second, snapshot); }).join();
  for (const char* name : {"model.safetensors", "config.json", "optimizer/state.safetensors",
                           "state.json", "data/rank-00000.json"}) {
    INFO(name);
    CHECK(files.read_all(join_path(first.path(), name)) ==
          files.read_all(join_path(second.path(), name)));
  }
  CHECK(take_snapshot(contents, 1, SnapshotTensors::copied).weights.empty());
}
