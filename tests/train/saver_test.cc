// When a run is saved: by counts, by rank 0's clock, and when a file asks for it.
#include "train/saver.h"

#include <optional>
#include <thread>

#include "catch.h"
#include "faulty_file_system.h"
#include "train/step/progress.h"

using namespace odb;

namespace {

const RunPaths kPaths{"/run"};

struct Run {
  explicit Run(std::optional<Amount> every, const RunTotals& start = {})
      : saver(files, kPaths, {.save_every = every}, start, [this] { ++saves; }),
        progress({.data_size = 1000, .steps = 20}, start) {
    files.make_folders(kPaths.folder);
  }

  // Whether the end of the next step saves.
  bool step(std::int64_t samples = 10) {
    const int before = saves;
    progress.add_step({.samples = samples, .tokens = 100 * samples});
    CHECK(saver.between_steps(progress));
    return saves > before;
  }

  FaultyFileSystem files;
  int saves = 0;
  Saver saver;
  Progress progress;
};

}  // namespace

TEST_CASE("saver: every so many steps, samples or tokens, from the first step of the run on") {
  Run steps(Amount{.value = 3, .unit = Unit::steps});
  for (int step = 1; step < 20; ++step)
    CHECK(steps.step() == (step % 3 == 0));
  CHECK_FALSE(steps.step());  // the end, which saves by itself
  Run resumed(Amount{.value = 3, .unit = Unit::steps}, {.steps = 8});
  CHECK(resumed.step());
  CHECK_FALSE(resumed.step());
  Run samples(Amount{.value = 25, .unit = Unit::samples});
  CHECK_FALSE(samples.step());
  CHECK_FALSE(samples.step());
  CHECK(samples.step());
  Run tokens(Amount{.value = 2000, .unit = Unit::tokens});
  CHECK_FALSE(tokens.step());
  CHECK(tokens.step());
}

TEST_CASE("saver: a boundary without a new step saves nothing twice") {
  Run run(Amount{.value = 2, .unit = Unit::steps});
  CHECK_FALSE(run.step());
  CHECK(run.step());
  CHECK(run.saver.between_steps(run.progress));  // the end of an epoch
  CHECK(run.saves == 1);
}

TEST_CASE("saver: a file asks for a save, and is gone after it") {
  Run run(std::nullopt);
  CHECK_FALSE(run.saver.asked());
  CHECK_FALSE(run.step());
  run.files.create(kPaths.save_now());
  while (!run.saver.asked())
    std::this_thread::yield();
  CHECK(run.files.exists(kPaths.save_now()));
  run.saver.agree();
  CHECK(run.step());
  CHECK_FALSE(run.files.exists(kPaths.save_now()));
  CHECK_FALSE(run.step());
}

TEST_CASE("saver: after so much time of this rank's clock") {
  Run run(Amount{.value = 0.001, .unit = Unit::seconds});
  while (!run.saver.asked())
    std::this_thread::yield();
  CHECK_FALSE(run.step());  // the others have not agreed yet
  run.saver.agree();
  CHECK(run.step());
  Run late(Amount{.value = 3600, .unit = Unit::seconds});
  CHECK_FALSE(late.saver.asked());
}
