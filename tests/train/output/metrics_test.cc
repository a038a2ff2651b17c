#include "train/output/metrics.h"

#include <cmath>

#include "base/error.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "train/output/lives.h"

using namespace odb;

namespace {

StepMetrics at_step(std::int64_t step) {
  StepMetrics metrics;
  metrics.step = step;
  metrics.loss = 1.5;
  return metrics;
}

std::vector<std::int64_t> steps_in(FileSystem& files, const std::string& path) {
  std::vector<std::int64_t> steps;
  for (const Json& line : read_json_lines(files, path))
    steps.push_back(line.at("step"));
  return steps;
}

using Steps = std::vector<std::int64_t>;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items())
    keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("The keys of metrics.jsonl and summary.json, and their order, are fixed") {
  CHECK(keys_of(to_json(StepMetrics{})) ==
        std::vector<std::string>{"step", "epoch", "samples", "tokens", "supervised_tokens", "loss",
                                 "grad_norm", "lr", "step_seconds", "data_wait_seconds",
                                 "samples_per_second", "tokens_per_second", "padding_fraction",
                                 "budget_fill", "idle_slots", "peak_memory_gb"});
  CHECK(keys_of(to_json(RunSummary{})) == std::vector<std::string>{"steps",
                                                                   "epoch",
                                                                   "samples",
                                                                   "tokens",
                                                                   "supervised_tokens",
                                                                   "loss",
                                                                   "seconds",
                                                                   "data_wait_seconds",
                                                                   "samples_per_second",
                                                                   "tokens_per_second",
                                                                   "padding_fraction",
                                                                   "budget_fill",
                                                                   "idle_slots",
                                                                   "skipped_steps",
                                                                   "peak_memory_gb",
                                                                   "emitted_views",
                                                                   "unique_views",
                                                                   "left_out_views",
                                                                   "first_step_seconds",
                                                                   "startup_seconds",
                                                                   "world_size",
                                                                   "phase_seconds"});
  const RunSummary summary{.phases = {.forward = 2, .events = 1, .all = 3.5}};
  CHECK(to_json(summary).at("phase_seconds").dump() ==
        R"({"forward":2.0,"backward":0.0,"update":0.0,"data_wait":0.0,"control":0.0,)"
        R"("events":1.0,"other":0.5})");
}

TEST_CASE("A line of metrics sums up the steps since the line before") {
  MetricsMeter meter;
  meter.add({.count = {.samples = 3,
                       .tokens = 100,
                       .supervised_tokens = 10,
                       .left_out = 0,
                       .idle_slots = 1,
                       .seconds = 1},
             .loss = 2,
             .grad_norm = 5,
             .lr = 0.1,
             .data_wait_seconds = 0.5,
             .padded_tokens = 120,
             .real_tokens = 100,
             .fill_sum = 0.5,
             .groups = 1,
             .peak_memory_gb = {}});
  meter.add({.count = {.samples = 1,
                       .tokens = 300,
                       .supervised_tokens = 30,
                       .left_out = 0,
                       .idle_slots = 0,
                       .seconds = 3},
             .loss = 4,
             .grad_norm = 6,
             .lr = 0.2,
             .data_wait_seconds = 0,
             .padded_tokens = 380,
             .real_tokens = 300,
             .fill_sum = 2.5,
             .groups = 3,
             .peak_memory_gb = 1.5});
  CHECK(meter.steps() == 2);
  const StepMetrics line = meter.take({.epoch = 0,
                                       .epoch_views = 4,
                                       .steps = 12,
                                       .samples = 40,
                                       .left_out = 0,
                                       .tokens = 4000,
                                       .supervised_tokens = 400,
                                       .idle_slots = 1,
                                       .seconds = 9},
                                      0.25);
  CHECK(to_json(line).dump() ==
        R"({"step":12,"epoch":0.25,"samples":40,"tokens":4000,"supervised_tokens":400,"loss":3.5,)"
        R"("grad_norm":6.0,"lr":0.2,"step_seconds":2.0,"data_wait_seconds":0.25,)"
        R"("samples_per_second":1.0,"tokens_per_second":100.0,"padding_fraction":0.2,)"
        R"("budget_fill":0.75,"idle_slots":1,"peak_memory_gb":1.5})");
  CHECK(meter.steps() == 0);
  CHECK_THROWS_AS(meter.take({}, 0), InternalError);
}

TEST_CASE("A step without supervised tokens has no loss, and its loss does not count") {
  MetricsMeter meter;
  StepMeasure nothing;
  nothing.loss = std::nan("");
  meter.add(nothing);
  CHECK(to_json(meter.take({}, 0)).at("loss").is_null());
  StepMeasure some;
  some.count.supervised_tokens = 4;
  some.loss = 2;
  meter.add(nothing);
  meter.add(some);
  CHECK(meter.take({}, 0).loss == 2);
}

TEST_CASE("Metrics are cut to the step that a run goes on from, and a torn line is cut") {
  FaultyFileSystem files;
  files.make_folders("/run");
  const std::string path = "/run/metrics.jsonl";
  {
    MetricsFile file(files, path, 0);
    for (const std::int64_t step : {1, 2, 3, 4})
      file.append(at_step(step));
  }
  files.append(path).write(R"({"step":5,"epo)");
  {
    MetricsFile file(files, path, 3);
    CHECK(steps_in(files, path) == Steps{1, 2, 3});
    file.append(at_step(4));
  }
  CHECK(steps_in(files, path) == Steps{1, 2, 3, 4});
  files.append(path).write("not JSON\n" + to_json(at_step(5)).dump() + "\n");
  CHECK_THROWS_WITH(read_json_lines(files, path), Catch::Contains("/run/metrics.jsonl:5"));
  { const MetricsFile continued(files, path, 9); }
  CHECK(steps_in(files, path) == Steps{1, 2, 3, 4});
  MetricsFile(files, path, 9).append({{"step", 5}, {"loss", 1}});
  CHECK(steps_in(files, path) == Steps{1, 2, 3, 4, 5});
  { const MetricsFile begun_anew(files, path, 0); }
  CHECK(files.file_size(path) == 0);
}

TEST_CASE("Lines that were written stay whatever crash follows") {
  const std::string path = "/run/lives.jsonl";
  for_every_crash([](FileSystem& files) { files.make_folders("/run"); },
                  [&](FileSystem& files) {
                    LivesFile file(files, path);
                    file.begin(this_life(0, 1, 0));
                    file.end(0, 7, "done", 0);
                  },
                  [&](FaultyFileSystem& files, std::size_t, Unsynced) {
                    LivesFile next(files, path);
                    CHECK(next.lives() <= 1);
                    next.begin(this_life(next.lives(), 1, 7));
                    const auto lines = read_json_lines(files, path);
                    CHECK(lines.back().at("resumed_step") == 7);
                  });
}

TEST_CASE("Lives record where and how often a run was started, and why it ended") {
  FaultyFileSystem files;
  files.make_folders("/run");
  LivesFile file(files, "/run/lives.jsonl");
  CHECK(file.lives() == 0);
  file.begin({.life = 0,
              .time = "2026-11-29T15:25:36Z",
              .host_info = {.host = "node7", .pid = 4711, .job = "99"},
              .restart_count = 2,
              .world_size = 8,
              .resumed_step = 0});
  CHECK(file.lives() == 1);
  file.end(0, 120, "SIGTERM", 75);
  CHECK(LivesFile(files, "/run/lives.jsonl").lives() == 1);
  const auto lines = read_json_lines(files, "/run/lives.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].dump() ==
        R"({"life":0,"start":"2026-11-29T15:25:36Z","host":"node7","pid":4711,"job":"99",)"
        R"("restart_count":2,"world_size":8,"resumed_step":0})");
  CHECK(keys_of(lines[1]) ==
        std::vector<std::string>{"life", "end", "step", "reason", "exit_code"});
  CHECK(lines[1].at("exit_code") == 75);

  const LifeStart now = this_life(3, 2, 50);
  CHECK(now.time.size() == 20);
  CHECK(now.time.ends_with("Z"));
  CHECK_FALSE(now.host_info.host.empty());
}

TEST_CASE("Rates of a summary are of this life, totals of the run") {
  RunSummary summary;
  summary.totals.samples = 100;
  summary.totals.left_out = 3;
  summary.totals.seconds = 10;
  summary.life_samples = 20;
  summary.life_tokens = 500;
  summary.loss = std::nan("");
  const Json json = to_json(summary);
  CHECK(json.at("emitted_views") == 100);
  CHECK(json.at("left_out_views") == 3);
  CHECK(json.at("unique_views").is_null());
  CHECK(json.at("samples_per_second") == 2.0);
  CHECK(json.at("tokens_per_second") == 50.0);
  CHECK(json.at("loss").is_null());
  summary.life_samples.reset();
  CHECK(to_json(summary).at("samples_per_second") == 10.0);
  summary.life_samples = 20;
  FaultyFileSystem files;
  files.make_folders("/run");
  write_summary(files, "/run/summary.json", summary);
  CHECK(Json::parse(files.read_all("/run/summary.json")) == json);
}
