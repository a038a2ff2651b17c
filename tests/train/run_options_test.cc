#include "base/options/command_line.h"
#include "base/options/show.h"
#include "catch.h"
#include "temporary_folder.h"
#include "train/output/logging_options.h"
#include "train/output/run_folder.h"
#include "train/session/rank_options.h"
#include "train/step/evaluation_schedule.h"
#include "train/step/run_length.h"
#include "train/step/schedule.h"

using namespace odb;

namespace {

struct AllOptions {
  OptimizerOptions optimizer;
  LengthOptions length;
  RankOptions ranks;
  FileOptions files;
  LoggingOptions look;
  EvaluationOptions evaluation;
  OptionTable table;

  AllOptions() {
    describe(table, optimizer);
    describe(table, length);
    describe(table, ranks);
    describe(table, files);
    describe(table, look);
    describe(table, evaluation);
  }
  void read(const std::vector<std::string>& arguments) {
    read_command_line(table, {.name = "train", .summary = "trains"}, arguments, 100);
  }
};

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    AllOptions().read(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("The names of the training options are fixed") {
  const AllOptions options;
  CHECK(
      options.table.names() ==
      std::vector<std::string>{"optimizer",     "lr",           "lr-schedule",      "warmup",
                               "min-lr-ratio",  "decay",        "polynomial-power", "weight-decay",
                               "adam-beta1",    "adam-beta2",   "adam-epsilon",     "sgd-momentum",
                               "max-grad-norm", "on-nan",       "max-nan-steps",    "epochs",
                               "max-steps",     "max-samples",  "max-tokens",       "time-limit",
                               "rank",          "world-size",   "local-rank",       "rendezvous",
                               "timeout",       "device",       "backend",          "mixed-devices",
                               "network",       "threads",      "output",           "overwrite",
                               "log-every",     "console",      "check-every",      "eval-data",
                               "eval-every",    "eval-at-start"});
  CHECK_NOTHROW(options.table.check_declarations());
}

TEST_CASE("A warm-up is a share or an amount") {
  AllOptions share;
  share.read({"--warmup", "0.1"});
  CHECK(share.optimizer.warmup == RunPart{.share = 0.1, .amount = {}});
  AllOptions amount;
  amount.read({"--warmup", "1M tokens"});
  CHECK(amount.optimizer.warmup ==
        RunPart{.share = 0, .amount = Amount{.value = 1e6, .unit = Unit::tokens}});

  CHECK(read_run_part("100 steps").value->amount == Amount{.value = 100, .unit = Unit::steps});
  CHECK(read_run_part("3e").value->amount == Amount{.value = 3, .unit = Unit::epochs});
  CHECK(read_run_part("1").value == RunPart{.share = 1, .amount = {}});
  for (const char* wrong : {"", "1.5", "-0.1", "100", "nan", "inf", "5min", "0 steps", "some"})
    CHECK_FALSE(read_run_part(wrong).value);
  for (const char* text : {"0.03", "0", "100 steps", "1.5M tokens", "3 epochs"})
    CHECK(print_run_part(*read_run_part(text).value) == text);
}

TEST_CASE("A printed config of all training options reads back") {
  AllOptions options;
  options.read({"--warmup", "500 samples", "--epochs", "1.5", "--time-limit", "3h", "--device",
                "cuda:1", "--eval-data", "a.jsonl", "--eval-every", "100 steps", "--timeout",
                "90s"});
  const std::string printed = config_json(options.table);
  INFO(printed);
  CHECK_THAT(printed, Catch::Contains("\"warmup\": \"500 samples\""));
  CHECK_THAT(printed, Catch::Contains("\"epochs\": 1.5"));

  const TemporaryFolder folder;
  AllOptions again;
  again.read({"--config", folder.write("config.json", printed)});
  CHECK(config_json(again.table) == printed);
}

TEST_CASE("A run's config records the values that were not given but used, and reads back") {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> present, left_out;
  };
  for (const Case& one :
       {Case{{},
             {"\"adam_beta1\": 0.9", "\"adam_beta2\": 0.999", "\"adam_epsilon\": 1e-08"},
             {"\"sgd_momentum\": null", "\"max_nan_steps\": null", "\"decay\": null"}},
        Case{{"--optimizer", "sgd", "--lr-schedule", "warmup-stable-decay", "--on-nan", "skip"},
             {"\"sgd_momentum\": 0", "\"max_nan_steps\": 10", "\"decay\": \"0.1\"",
              "\"min_lr_ratio\": 0"},
             {"\"adam_beta1\": null", "\"polynomial_power\": null"}},
        Case{{"--lr-schedule", "polynomial"}, {"\"polynomial_power\": 1"}, {"\"decay\": null"}},
        Case{{"--lr-schedule", "cosine-with-min", "--adam-beta1", "0.8"},
             {"\"min_lr_ratio\": 0.1", "\"adam_beta1\": 0.8"},
             {"\"polynomial_power\": null"}}}) {
    AllOptions options;
    options.read(one.arguments);
    fill_defaults(options.optimizer);
    const std::string recorded = config_json(options.table);
    for (const std::string& text : one.present)
      CHECK_THAT(recorded, Catch::Contains(text));
    for (const std::string& text : one.left_out)
      CHECK_THAT(recorded, Catch::Contains(text));
    const TemporaryFolder folder;
    AllOptions again;
    again.read({"--config", folder.write("config.json", recorded)});
    CHECK(config_json(again.table) == recorded);
  }
}

TEST_CASE("A config printed with defaults does not ask for options of another optimizer") {
  const TemporaryFolder folder;
  AllOptions options;
  const std::string path = folder.write("config.json", config_json(options.table));
  AllOptions sgd;
  sgd.read({"--config", path, "--optimizer", "sgd", "--sgd-momentum", "0.5"});
  CHECK(sgd.optimizer.momentum() == 0.5);
  CHECK(sgd.optimizer.beta2() == 0.999);
  CHECK_THAT(refusal({"--config", folder.write("c.json", R"({"adam_beta2": 0.95})"), "--optimizer",
                      "sgd"}),
             Catch::Contains("adam_beta2)"));  // the place where it is set
}

TEST_CASE("In a config file a share may be a number, an amount is a text") {
  const TemporaryFolder folder;
  AllOptions options;
  options.read({"--config", folder.write("config.json", R"({"warmup": 0.05})")});
  CHECK(options.optimizer.warmup.share == 0.05);
  CHECK_THROWS_AS(AllOptions().read({"--config", folder.write("c.json", R"({"warmup": 100})")}),
                  UsageError);
  CHECK_THROWS_AS(AllOptions().read({"--config", folder.write("c.json", R"({"warmup": [1]})")}),
                  UsageError);
}

TEST_CASE("Options that contradict each other are refused with what to do") {
  struct Case {
    std::vector<std::string> arguments;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{"--min-lr-ratio", "0.1"}, "--lr-schedule cosine"},
      {{"--min-lr-ratio", "0.1", "--lr-schedule", "linear"}, "polynomial"},
      {{"--decay", "0.2"}, "only warmup-stable-decay"},
      {{"--polynomial-power", "2"}, "only polynomial"},
      {{"--lr-schedule", "warmup-stable-decay", "--warmup", "0.6", "--decay", "0.5"}, "at most 1"},
      {{"--sgd-momentum", "0.9"}, "--sgd-momentum 0.9 with --optimizer adamw"},
      {{"--sgd-momentum", "0"}, "--sgd-momentum 0 with --optimizer adamw"},
      {{"--adam-beta1", "0.9", "--optimizer", "sgd"}, "--adam-beta1 0.9 with --optimizer sgd"},
      {{"--adam-beta2", "0.95", "--optimizer", "sgd"}, "--adam-beta2 0.95 with --optimizer sgd"},
      {{"--adam-epsilon", "1e-6", "--optimizer", "sgd"},
       "--adam-epsilon 1e-06 with --optimizer sgd"},
      {{"--max-nan-steps", "5"}, "--max-nan-steps 5 with --on-nan stop"},
      {{"--on-nan", "stop", "--max-nan-steps", "5"}, "take --on-nan skip"},
      {{"--rank", "0"}, "--rank and --world-size come together"},
      {{"--world-size", "2"}, "found only --world-size"},
      {{"--rank", "2", "--world-size", "2"}, "ranks count from 0 to 1"},
      {{"--local-rank", "2", "--rank", "0", "--world-size", "2"}, "less than the world size"},
      {{"--backend", "nccl", "--device", "cpu"}, "take gloo"},
      {{"--device", "gpu"}, "auto, cpu, cuda or cuda:N"},
      {{"--device", "cuda:-1"}, "auto, cpu, cuda or cuda:N"},
      {{"--rendezvous", "host"}, "HOST:PORT"},
      {{"--rendezvous", "host:0"}, "HOST:PORT"},
      {{"--eval-every", "100 steps"}, "--eval-every without --eval-data"},
      {{"--eval-at-start", "on"}, "--eval-at-start without --eval-data"},
      {{"--eval-data", "a", "--eval-every", "5min"}, "100 steps"},
      {{"--epochs", "0"}, "above 0"},
      {{"--max-steps", "0"}, "at least 1"},
      {{"--warmup", "100"}, "a share of the run"},
      {{"--adam-beta2", "1"}, "below 1"},
  };
  for (const Case& wrong : cases) {
    INFO(fmt::format("{}", fmt::join(wrong.arguments, " ")));
    CHECK_THAT(refusal(wrong.arguments), Catch::Contains(wrong.said));
  }
  CHECK(refusal({"--lr-schedule", "warmup-stable-decay", "--warmup", "0.5", "--decay", "0.5",
                 "--min-lr-ratio", "0.1"})
            .empty());
  CHECK(refusal({"--optimizer", "sgd", "--sgd-momentum", "0.9"}).empty());
  CHECK(refusal({"--adam-beta1", "0.8", "--adam-beta2", "0.9", "--adam-epsilon", "1e-6"}).empty());
  CHECK(refusal({"--on-nan", "skip", "--max-nan-steps", "5"}).empty());
  CHECK(refusal({"--rank", "0", "--world-size", "1", "--rendezvous", "[::1]:5000"}).empty());
}
