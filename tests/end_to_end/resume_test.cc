// Runs that are stopped or killed and started again with the same command line: they end as if they
// had never been interrupted, bit for bit.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "base/real_file_system.h"
#include "base/rng.h"
#include "catch.h"
#include "texts.h"
#include "train/output/checkpoint_files.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

constexpr int kRows = 240;

Arguments arguments_of(const TrainerRun& run, const Arguments& more = {}) {
  Arguments all = {"--data",       run.texts("a.jsonl", kRows),
                   "--eval-data",  run.texts("e.jsonl", 12),
                   "--eval-every", "5 steps",
                   "--epochs",     "2",
                   "--l-max",      "160",
                   "--depth",      "3",
                   "--save-every", "3 steps",
                   "--lr",         "1e-3",
                   "--timeout",    "5s"};
  // Those that are given replace these.
  for (std::size_t i = 0; i + 1 < more.size(); i += 2)
    if (const auto flag = std::ranges::find(all, more[i]); flag != all.end())
      *std::next(flag) = more[i + 1];
    else
      all.insert(all.end(), {more[i], more[i + 1]});
  return all;
}

// What a run leaves: the files of its last checkpoint, and its losses. Without what differs from
// life to life.
struct Left {
  std::int64_t step = 0;
  std::map<std::string, std::string> files;
  std::vector<std::string> metrics;
  std::vector<std::string> evaluations;
};

void walk(FileSystem& files, const std::string& folder, const std::string& below, Left& left) {
  for (const std::string& name : files.list(join_path(folder, below))) {
    const std::string path = below.empty() ? name : join_path(below, name);
    if (files.is_folder(join_path(folder, path)))
      walk(files, folder, path, left);
    else
      left.files[path] = files.read_all(join_path(folder, path));
  }
}

Left what_is_left(const TrainerRun& run) {
  RealFileSystem files;
  Left left;
  const auto newest = newest_checkpoint(files, run.paths().checkpoints());
  REQUIRE(newest);
  left.step = newest->step;
  walk(files, newest->path, "", left);
  left.files.erase("MANIFEST.json");
  nlohmann::json state = nlohmann::json::parse(left.files.at("state.json"));
  state.erase("life");
  left.files["state.json"] = state.dump();
  for (const auto& line : run.metrics())
    left.metrics.push_back(fmt::format("{} {} {} {}", line.at("step").dump(),
                                       line.at("loss").dump(), line.at("grad_norm").dump(),
                                       line.at("tokens").dump()));
  const std::string evaluations = files.read_all(run.paths().evaluations());
  for (std::size_t at = 0; at < evaluations.size();) {
    const std::size_t end = evaluations.find('\n', at);
    nlohmann::json line = nlohmann::json::parse(evaluations.substr(at, end - at));
    line.erase("data");  // its path
    left.evaluations.push_back(line.dump());
    at = end + 1;
  }
  return left;
}

void check_equal(const Left& found, const Left& expected) {
  CHECK(found.step == expected.step);
  for (const auto& [name, bytes] : expected.files) {
    INFO(name);
    REQUIRE(found.files.contains(name));
    CHECK((found.files.at(name) == bytes));
  }
  CHECK(found.files.size() == expected.files.size());
  CHECK(found.metrics == expected.metrics);
  CHECK(found.evaluations == expected.evaluations);
}

Left unbroken(int world, const Arguments& more = {}) {
  TrainerRun run;
  run_to_end(run, world, arguments_of(run, more));
  check_coverage(run, 2, kRows);
  return what_is_left(run);
}

std::vector<nlohmann::json> lives(const TrainerRun& run) {
  std::vector<nlohmann::json> found;
  const std::string text = content_of(run.paths().lives());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    found.push_back(nlohmann::json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return found;
}

// Interrupts the run at drawn moments until it ends, and compares it with the unbroken one.
void interrupt(std::uint64_t seed, int world, int interruptions, const Left& expected,
               const Arguments& more = {}) {
  Rng rng(seed, RandomPurpose::tests, 2);
  TrainerRun run;
  const Arguments arguments = arguments_of(run, more);
  std::string done;
  std::vector<int> codes;
  for (int life = 0; life <= interruptions; ++life) {
    run.forget_ended();
    run.start(world, arguments);
    if (life < interruptions) {
      const std::size_t steps = run.logged_steps() + rng.below(5);
      const bool at_start = rng.below(4) == 0;
      if (!at_start) holds_in_time([&] { return run.logged_steps() > steps || run.any_ended(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(at_start ? 700 : 80)));
      const int rank = static_cast<int>(rng.below(static_cast<std::uint64_t>(world)));
      const bool kill = rng.below(3) > 0;
      done += fmt::format("  life {}: {} to rank {} after {} lines\n", life,
                          kill ? "SIGKILL" : "SIGTERM", rank, run.logged_steps());
      run.send(rank, kill ? SIGKILL : SIGTERM);
    }
    codes = run.await_end();
    run.await_nothing_left();
    if (codes == std::vector<int>(codes.size(), 0)) break;
  }
  INFO("seed " << seed << ", " << world << " ranks\n" << done << run.all_lines());
  CHECK(codes == std::vector<int>(static_cast<std::size_t>(world), 0));
  check_equal(what_is_left(run), expected);
  check_coverage(run, 2, kRows);
}

}  // namespace

TEST_CASE("A run that is killed or stopped again and again ends as one that never was") {
  for (const int world : {1, 2, 3}) {
    const Left expected = unbroken(world);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      interrupt(10 * static_cast<std::uint64_t>(world) + seed, world, 5, expected);
  }
}

TEST_CASE("A run with accumulation, padded batches and rows left out goes on exactly") {
  const Arguments more = {"--accumulate", "3", "--layout", "padded", "--data-workers", "2"};
  const Left expected = unbroken(2, more);
  for (std::uint64_t seed = 51; seed <= 52; ++seed)
    interrupt(seed, 2, 4, expected, more);
}

TEST_CASE("The same command line after the end of a run does nothing, a longer one goes on") {
  TrainerRun run;
  const Arguments arguments = arguments_of(run);
  run_to_end(run, 2, arguments);
  const Left left = what_is_left(run);
  run.forget_ended();
  run_to_end(run, 2, arguments);
  CHECK_THAT(run.lines(0), Catch::Contains("has finished"));
  CHECK(lives(run).size() == 2);  // a start and an end
  check_equal(what_is_left(run), left);
  run.forget_ended();
  run_to_end(run, 2, arguments_of(run, {"--epochs", "3"}));
  CHECK_THAT(run.lines(0), Catch::Contains("going on from"));
  check_coverage(run, 3, kRows);
  CHECK(run.summary().at("samples") == 3 * kRows);
  CHECK(lives(run).size() == 4);
}

TEST_CASE("What cannot go on is refused with what differs") {
  TrainerRun run;
  run_to_end(run, 2, arguments_of(run, {"--max-steps", "4"}));
  struct Case {
    int world;
    Arguments more;
    std::string said;
  };
  const std::string other = run.texts("b.jsonl", kRows + 1);
  const Case cases[] = {
      {2, {"--max-steps", "9", "--l-max", "320"}, "saved with --l-max=160, now --l-max=320"},
      {2, {"--max-steps", "9", "--seed", "7"}, "saved with --seed"},
      {2, {"--max-steps", "9", "--data", other}, "samples"},
      {1, {"--max-steps", "9"}, "was saved by 2 ranks, and this run has 1"},
      {2, {"--max-steps", "9", "--resume", "never"}, "--resume never was given"},
      {2, {"--max-steps", "9", "--resume", "nowhere"}, "found no checkpoint of this run there"},
      {2, {"--max-steps", "9", "--overwrite", "on"}, "add --resume never"},
  };
  for (const Case& refused : cases) {
    run.forget_ended();
    Arguments arguments = arguments_of(run, refused.more);
    run.start(refused.world, arguments);
    const std::vector<int> codes = run.await_end();
    INFO(run.all_lines());
    CHECK(codes == std::vector<int>(static_cast<std::size_t>(refused.world), 2));
    CHECK_THAT(run.all_lines(), Catch::Contains(refused.said));
  }
  TrainerRun empty;
  run_to_end(empty, 1, arguments_of(empty, {"--resume", "must"}), 2);
  CHECK_THAT(empty.lines(0), Catch::Contains("found no whole checkpoint"));
}

TEST_CASE("A damaged newest checkpoint is named, and an older one taken") {
  TrainerRun run;
  run_to_end(run, 1, arguments_of(run, {"--max-steps", "9"}));
  const Left left = what_is_left(run);
  REQUIRE(left.step == 9);
  RealFileSystem files;
  files.write_durably(run.paths().checkpoints() + "/step-00000009/state.json", "{}");
  run.forget_ended();
  run_to_end(run, 1, arguments_of(run, {"--max-steps", "9"}));
  CHECK_THAT(run.lines(0), Catch::Contains("step-00000009 is skipped: state.json has 2 bytes"));
  CHECK_THAT(run.lines(0), Catch::Contains("going on from") && Catch::Contains("step-00000006"));
  check_equal(what_is_left(run), left);
  run.forget_ended();
  run_to_end(run, 1,
             arguments_of(run, {"--max-steps", "12", "--resume",
                                run.paths().checkpoints() + "/step-00000006"}));
  CHECK_THAT(run.lines(0), Catch::Contains("step 6, "));
}

TEST_CASE("A file save-now in the folder of the run saves it, and goes") {
  TrainerRun run;
  Arguments arguments = arguments_of(run, {"--epochs", "100000", "--keep", "0"});
  std::erase(arguments, "--save-every");
  std::erase(arguments, "3 steps");
  run.start(2, arguments);
  await("a step is logged", [&] { return run.logged_steps() >= 1 || run.any_ended(); });
  RealFileSystem files;
  files.create(run.paths().save_now());
  await("it is saved", [&] {
    return list_checkpoints(files, run.paths().checkpoints(), Verify::sizes).valid.size() == 1 ||
           run.any_ended();
  });
  await("the file is gone",
        [&] { return !files.exists(run.paths().save_now()) || run.any_ended(); });
  run.send(0, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{75, 75});
  CHECK(list_checkpoints(files, run.paths().checkpoints(), Verify::checksums).valid.size() == 2);
}

TEST_CASE("Only the newest checkpoints and the best one stay") {
  TrainerRun run;
  run_to_end(run, 1, arguments_of(run, {"--keep", "2", "--save-every", "2 steps"}));
  RealFileSystem files;
  const CheckpointList found =
      list_checkpoints(files, run.paths().checkpoints(), Verify::checksums);
  CHECK(found.valid.size() >= 2);
  CHECK(found.valid.size() <= 3);
}
