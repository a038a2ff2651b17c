// What a run computes does not depend on how many ranks share the work, nor on when it runs.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/permutation.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Tensors = std::map<std::string, std::vector<float>>;
using Arguments = std::vector<std::string>;

const std::string kCases = ODB_TESTS_FOLDER "/cases/chat/";

Arguments operator+(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// One step whose gradient SGD's momentum keeps: learning rate 0, no clipping.
const Arguments kOneStep = {"--batching",  "standard", "--max-steps",     "1",
                            "--optimizer", "sgd",      "--sgd-momentum",  "0.9",
                            "--lr",        "0",        "--max-grad-norm", "0"};

struct FirstStep {
  Tensors gradient;
  double loss = 0;
};

FirstStep first_step(TrainerRun& run, int world, const Arguments& arguments) {
  run_to_end(run, world, kOneStep + arguments);
  FirstStep step;
  step.gradient = float_tensors(whole_checkpoint(run, 1) + "/optimizer/state.safetensors");
  step.loss = run.losses().front();
  CHECK(step.gradient.size() > 10);
  return step;
}

// Length of the difference relative to the length of the expected values.
double apart(const Tensors& found, const Tensors& expected) {
  double difference = 0;
  double whole = 0;
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, values] : expected) {
    const auto& others = found.at(name);
    REQUIRE(others.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double{others[i]} - double{values[i]}, 2);
      whole += std::pow(double{values[i]}, 2);
    }
  }
  REQUIRE(whole > 0);
  return std::sqrt(difference / whole);
}

// Every file of the run that holds no time, by name. Times are cut out of the metrics.
std::map<std::string, std::string> timeless_files(const TrainerRun& run) {
  RealFileSystem files;
  std::map<std::string, std::string> found;
  const std::string checkpoint = whole_checkpoint(run, run.summary().at("steps"));
  for (const char* name :
       {"model.safetensors", "config.json", "optimizer/state.safetensors", "state.json",
        "data/rank-00000.json", "data/rank-00001.json", "data/rank-00002.json"})
    found[name] = files.read_all(checkpoint + "/" + name);
  for (int rank = 0; rank < 3; ++rank)
    found[run.paths().ledger(rank).substr(run.paths().folder.size())] =
        files.read_all(run.paths().ledger(rank));
  for (auto line : run.metrics()) {
    for (const char* key : {"step_seconds", "data_wait_seconds", "samples_per_second",
                            "tokens_per_second", "peak_memory_gb"})
      REQUIRE(line.erase(key) == 1);
    found["metrics"] += line.dump() + "\n";
  }
  return found;
}

}  // namespace

TEST_CASE("One rank and two give the same losses over the same global batches") {
  std::vector<std::vector<double>> losses;
  for (const int world : {1, 2}) {
    TrainerRun run;
    run_to_end(
        run, world,
        {"--data", run.texts("a.jsonl", 46), "--batching", "standard", "--batch-size",
         std::to_string(4 / world), "--lr", "1e-3", "--weight-decay", "0.1", "--epochs", "2"});
    check_coverage(run, 2, 46);
    losses.push_back(run.losses());
  }
  REQUIRE(losses[0].size() == 24);
  REQUIRE(losses[1].size() == 24);
  for (std::size_t step = 0; step < losses[0].size(); ++step) {
    INFO("step " << step + 1);
    CHECK(losses[1][step] == Approx(losses[0][step]).epsilon(1e-5));
  }
  CHECK(losses[0].back() < losses[0].front());
}

TEST_CASE("Two identical runs of three ranks leave the same bytes") {
  std::vector<std::map<std::string, std::string>> files;
  for (int time = 0; time < 2; ++time) {
    TrainerRun run;
    run.launch(3, {"--data", run.texts("a.jsonl", 61), "--l-max", "64", "--window", "8", "--lr",
                   "1e-3", "--accumulate", "2"});
    REQUIRE(run.await_end() == std::vector<int>{0});
    check_coverage(run, 1, 61);
    files.push_back(timeless_files(run));
  }
  REQUIRE(files[0].size() == files[1].size());
  CHECK(std::ranges::count(files[0].at("metrics"), '\n') > 3);
  for (const auto& [name, bytes] : files[0]) {
    INFO(name);
    CHECK(bytes.size() > 100);
    CHECK((bytes == files[1].at(name)));
  }
}

TEST_CASE("Case token_weighting: the gradient of a step, however its rows are dealt out") {
  const Arguments data = {"--data", kCases + "token_weighting.jsonl", "--batch-size"};
  TrainerRun whole;
  const FirstStep expected = first_step(whole, 1, data + Arguments{"4"});
  struct Way {
    int world;
    Arguments arguments;
  };
  for (const Way& way :
       {Way{1, {"1", "--accumulate", "4"}}, Way{2, {"2"}}, Way{2, {"1", "--accumulate", "2"}}}) {
    INFO(way.world << " ranks");
    TrainerRun run;
    const FirstStep found = first_step(run, way.world, data + way.arguments);
    CHECK(apart(found.gradient, expected.gradient) < 1e-5);
    CHECK(found.loss == Approx(expected.loss).epsilon(1e-5));
    check_coverage(run, 1, 4);
  }
}

TEST_CASE("Case every_second_row_unlabelled: a rank without a label changes nothing") {
  // A seed that gives rank 1 all the odd rows, which have no answer.
  std::uint64_t seed = 0;
  const auto odd_are_of_rank_1 = [&] {
    const Permutation order(8, seed, 0);
    for (std::int64_t place = 1; place < 8; place += 2)
      if (order(place) % 2 == 0) return false;
    return true;
  };
  while (!odd_are_of_rank_1())
    ++seed;
  RealFileSystem files;
  const std::string rows = files.read_all(kCases + "every_second_row_unlabelled.jsonl");
  std::string labeled;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < rows.size(); ++number) {
    const std::size_t end = rows.find('\n', begin) + 1;
    if (number % 2 == 0) labeled += rows.substr(begin, end - begin);
    begin = end;
  }
  TrainerRun alone, both;
  const FirstStep expected =
      first_step(alone, 1, {"--data", alone.write("even.jsonl", labeled), "--batch-size", "4"});
  const FirstStep found = first_step(both, 2,
                                     {"--data", kCases + "every_second_row_unlabelled.jsonl",
                                      "--batch-size", "4", "--seed", std::to_string(seed)});
  CHECK(apart(found.gradient, expected.gradient) < 1e-5);
  CHECK(found.loss == Approx(expected.loss).epsilon(1e-5));
  CHECK(both.metrics().front().at("idle_slots") == 1);
  CHECK(both.summary().at("samples") == 4);
  CHECK(both.summary().at("left_out_views") == 4);
}

TEST_CASE("Case truncated_answer: a row without an answer is left out, and all of them refused") {
  TrainerRun run;
  run_to_end(run, 1,
             {"--data", kCases + "truncated_answer.jsonl", "--cutoff-len", "64", "--lr", "1e-3"});
  CHECK(run.summary().at("samples") == 1);
  CHECK(run.summary().at("left_out_views") == 1);
  REQUIRE(run.losses().size() == 1);
  CHECK(std::isfinite(run.losses().front()));
  CHECK(run.losses().front() > 1);
  check_coverage(run, 1, 2);

  RealFileSystem files;
  const std::string rows = files.read_all(kCases + "truncated_answer.jsonl");
  TrainerRun none;
  run_to_end(none, 1,
             {"--data", none.write("cut.jsonl", rows.substr(0, rows.find('\n') + 1)),
              "--cutoff-len", "64"},
             3);
  CHECK_THAT(none.lines(0), Catch::Contains("no sample can be trained"));
}
