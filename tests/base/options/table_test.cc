#include "base/options/table.h"

#include "catch.h"
#include "example.h"

using namespace odb;
using namespace odb::example;
using Texts = std::vector<std::string>;

TEST_CASE("a table lists its options in the order of declaration") {
  const Described example;
  CHECK(example.table.names() == Texts{"l-max", "grouping", "join", "accumulate",
                                       "global-batch-tokens", "global-batch-samples", "data",
                                       "model", "train-on", "rendezvous", "warmup", "seed",
                                       "workers", "save-every", "log-every", "timeout", "cache"});
  CHECK_NOTHROW(example.table.check_declarations());
  CHECK(example.table.find("l-max")->key() == "l_max");
  CHECK(example.table.find("l-max")->flag() == "--l-max");
  CHECK(example.table.find("l_max") == nullptr);
  CHECK(example.table.find("train-on")->group == "data");
}

TEST_CASE("the variable's own value is the default") {
  Described example;
  const auto default_of = [&](const char* name) {
    return example.table.find(name)->default_values;
  };
  CHECK(default_of("l-max") == Texts{"8192"});
  CHECK(default_of("grouping") == Texts{"fit"});
  CHECK(default_of("join") == Texts{"on"});
  CHECK(default_of("accumulate").empty());
  CHECK(default_of("data").empty());
  CHECK(default_of("train-on") == Texts{"answers"});
  CHECK(default_of("warmup") == Texts{"0.03"});
  CHECK(default_of("save-every") == Texts{"500 steps"});
  CHECK(default_of("timeout") == Texts{"5min"});
  CHECK(default_of("cache") == Texts{"5GiB"});
}

TEST_CASE("writing reads the text by the variable's type") {
  Described example;
  const auto write = [&](const char* name, const Texts& texts) {
    example.table.find(name)->write(texts);
  };
  write("l-max", {"64k tokens"});
  write("grouping", {"greedy"});
  write("join", {"off"});
  write("accumulate", {"4"});
  write("data", {"a.jsonl", "b,c.jsonl"});
  write("model", {"models/demo"});
  write("train-on", {"all"});
  write("rendezvous", {"node7:29500"});
  write("warmup", {"1e-2"});
  write("seed", {"18446744073709551615"});
  write("log-every", {"20"});
  write("timeout", {"90s"});
  write("cache", {"1.5GB"});
  CHECK(example.options == Options{.l_max = 64'000,
                                   .grouping = Grouping::greedy,
                                   .join = false,
                                   .accumulate = 4,
                                   .data = {"a.jsonl", "b,c.jsonl"},
                                   .model = "models/demo",
                                   .train_on = "all",
                                   .rendezvous = "node7:29500",
                                   .warmup = 0.01,
                                   .seed = 18446744073709551615u,
                                   .log_every = Amount{.value = 20, .unit = Unit::steps},
                                   .timeout = std::chrono::seconds(90),
                                   .cache = {.bytes = 1'500'000'000}});
  write("accumulate", {});
  CHECK(!example.options.accumulate.has_value());
  write("data", {});
  CHECK(example.options.data.empty());
}

TEST_CASE("a value that breaks a rule is refused with what was found and what is expected") {
  struct Row {
    const char* name;
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"l-max", "0", "found '0', expected an integer, at least 1 (tokens)"},
      {"l-max", "-5", "found '-5', expected an integer, at least 1 (tokens)"},
      {"l-max", "abc",
       "found 'abc' (a number must come first), expected an integer, at least 1 (tokens)"},
      {"l-max", "8192.5",
       "found '8192.5' (not a whole number), expected an integer, at least 1 (tokens)"},
      {"l-max", "64k samples",
       "found '64k samples' (unknown unit 'samples'), expected an integer, at least 1 (tokens)"},
      {"l-max", "99999999999999999999",
       "found '99999999999999999999' (too large), expected an integer, at least 1 (tokens)"},
      {"l-max", "",
       "found '' (a number must come first), expected an integer, at least 1 (tokens)"},
      {"workers", "65", "found '65', expected an integer, at least 1, at most 64"},
      {"workers", "3000000000",
       "found '3000000000' (too large), expected an integer, at least 1, at most 64"},
      {"seed", "-1", "found '-1' (a sign is not allowed), expected an integer"},
      {"grouping", "best", "found 'best', expected one of greedy, fit"},
      {"train-on", "Answers", "found 'Answers', expected one of answers, all, last"},
      {"join", "yes", "found 'yes', expected on or off"},
      {"accumulate", "0", "found '0', expected an integer, at least 1 (micro-steps)"},
      {"model", "", "found '', expected a path"},
      {"rendezvous", "here", "found 'here', expected auto, env or HOST:PORT"},
      {"warmup", "1", "found '1', expected a number, at least 0, below 1"},
      {"warmup", "nan", "found 'nan', expected a number, at least 0, below 1"},
      {"warmup", "0.03x", "found '0.03x', expected a number, at least 0, below 1"},
      {"warmup", "1e999", "found '1e999' (out of range), expected a number, at least 0, below 1"},
      {"save-every", "500",
       "found '500' (the unit is missing), expected an amount: 3e, 500 samples, 1.5M tokens, "
       "100 steps or 30min"},
      {"log-every", "3e",
       "found '3e' (epochs are not accepted here), expected an amount: 100 steps or 30min (a plain "
       "number means steps)"},
      {"timeout", "90",
       "found '90' (the unit is missing), expected a duration such as 90s, 5min, 1h30min (ms, s, "
       "min, h, d), at least 1s"},
      {"timeout", "1ms",
       "found '1ms', expected a duration such as 90s, 5min, 1h30min (ms, s, min, h, d), at least "
       "1s"},
      {"cache", "5G",
       "found '5G' (unknown unit 'G'), expected a size such as 5GB or 512MiB (B, kB, MB, GB, TB, "
       "KiB, MiB, GiB, TiB)"},
  };
  Described example;
  for (const Row& row : rows) {
    INFO(row.name << " " << row.text);
    CHECK(message_of<UsageError>([&] { example.table.find(row.name)->write({row.text}); }) ==
          row.message);
  }
  CHECK(example.options == Options{});
}

TEST_CASE("faults in a declaration are internal errors") {
  int64_t number = 3;
  std::optional<int64_t> choice;
  std::optional<int64_t> chosen = 2;
  std::filesystem::path path;
  OptionTable table;
  table.add("number", number).help("a number");
  table.add("choice", choice).help("a choice");
  table.add("chosen", chosen).help("a choice with a default");
  CHECK_THROWS_AS(table.add("number", number), InternalError);
  CHECK_THROWS_AS(table.add("Number", number), InternalError);
  CHECK_THROWS_AS(table.add("n", number), InternalError);
  CHECK_THROWS_AS(table.add("a_b", number), InternalError);
  CHECK_THROWS_AS(table.exclusive({"choice", "unknown"}), InternalError);
  CHECK_THROWS_AS(table.exclusive({"choice", "number"}), InternalError);
  CHECK_THROWS_AS(table.exclusive({"choice", "chosen"}), InternalError);
  CHECK_THROWS_AS(table.require({"number"}), InternalError);
  CHECK_THROWS_AS(table.require({"unknown"}), InternalError);

  OptionTable without_help;
  without_help.add("number", number);
  CHECK_THROWS_AS(without_help.check_declarations(), InternalError);
  OptionTable bad_default;
  bad_default.add("number", number).at_least(4).help("a number");
  CHECK_THROWS_WITH(bad_default.check_declarations(),
                    Catch::Contains("the option number breaks its rules: found '3', expected"));
  OptionTable empty_path;
  empty_path.add("path", path).help("a path");
  CHECK_THROWS_AS(empty_path.check_declarations(), InternalError);
}
