// Ranks whose machines are not alike hold the same weights after every step: the trainer's own
// comparison of all weights after each one (--check-every 1) ends a run in which they differ.
#include "base/real_file_system.h"
#include "catch.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

const std::string kTokenizer = ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs";

// Wide enough that sums over a gradient are split among threads.
std::string wide_model(const TrainerRun& run) {
  RealFileSystem files;
  auto config =
      nlohmann::json::parse(files.read_all(ODB_TESTS_FOLDER "/cases/models/base/config.json"));
  config["hidden_size"] = 192;
  config["intermediate_size"] = 320;
  config["initializer_range"] = 0.1;
  const std::string path = run.write("model/config.json", config.dump());
  return path.substr(0, path.rfind('/'));
}

Arguments steps_of(const TrainerRun& run, const Arguments& more) {
  Arguments arguments = {"--model",        wide_model(run),
                         "--init",         "random",
                         "--tokenizer",    kTokenizer,
                         "--data",         run.texts("a.jsonl", 60),
                         "--batching",     "standard",
                         "--batch-size",   "2",
                         "--max-steps",    "8",
                         "--lr",           "1e-2",
                         "--warmup",       "0",
                         "--check-every",  "1",
                         "--weight-decay", "0.1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void check_equal_replicas(TrainerRun& run, const std::vector<RankStart>& starts) {
  run.start_each(starts);
  const std::vector<int> codes = run.await_end();
  INFO(run.all_lines());
  REQUIRE(codes == std::vector<int>(starts.size(), 0));
  whole_checkpoint(run, 8);
}

}  // namespace

TEST_CASE("Two ranks with one and two threads hold equal weights") {
  TrainerRun run;
  check_equal_replicas(run, {{.arguments = steps_of(run, {"--threads", "1"})},
                             {.arguments = steps_of(run, {"--threads", "2"})}});
}

TEST_CASE("Three ranks with three, one and two threads hold equal weights") {
  TrainerRun run;
  const Arguments sgd = {"--optimizer", "sgd", "--sgd-momentum", "0.9"};
  std::vector<RankStart> starts;
  for (const char* threads : {"3", "1", "2"}) {
    starts.push_back({.arguments = steps_of(run, sgd)});
    starts.back().arguments.insert(starts.back().arguments.end(), {"--threads", threads});
  }
  check_equal_replicas(run, starts);
}

TEST_CASE("Ranks that choose their threads on machines of unlike processors hold equal weights") {
  TrainerRun run;
  // Each alone on its machine.
  const RankStart start{.arguments = steps_of(run, {}),
                        .environment = {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}},
                        .own_threads = true};
  std::vector<RankStart> starts = {start, start};
  starts[0].one_processor = true;
  check_equal_replicas(run, starts);
}

TEST_CASE("Ranks with unlike instruction sets hold equal weights") {
  for (const std::size_t plain : {0, 1}) {
    TrainerRun run;
    std::vector<RankStart> starts(2, {.arguments = steps_of(run, {})});
    starts[plain].environment = {{"ATEN_CPU_CAPABILITY", "default"}};
    check_equal_replicas(run, starts);
  }
}
