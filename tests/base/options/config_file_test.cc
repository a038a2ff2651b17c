#include "base/options/sources.h"
#include "catch.h"
#include "example.h"
#include "temporary_folder.h"

using namespace odb;
using namespace odb::example;
using Texts = std::vector<std::string>;

namespace {

struct ConfigFile {
  TemporaryFolder folder;
  std::string path;
  explicit ConfigFile(std::string_view text) : path(folder.write("train.json", text)) {}

  Options options() const {
    Described example;
    merge_values(example.table, read_config_file(example.table, path), {});
    return example.options;
  }
  // The message without the folder: "train.json:3:5: ...".
  std::string refused() const {
    std::string message = message_of<UsageError>([&] { (void)options(); });
    const std::string prefix = folder.path() + "/";
    for (size_t at; (at = message.find(prefix)) != std::string::npos;)
      message.erase(at, prefix.size());
    return message;
  }
};

}  // namespace

TEST_CASE("a config file gives values by their JSON types, comments are allowed") {
  const ConfigFile file(R"(// how the demo is trained
{
  "l_max": 4096, /* tokens */
  "grouping": "greedy",
  "join": false,
  "accumulate": null,
  "global_batch_tokens": 65536,
  "data": ["a.jsonl", "b.jsonl"],
  "model": "mod\u00e8les/\"demo\"",
  "warmup": 3e-4,
  "seed": 18446744073709551615,
  "save_every": "1.5M tokens",
  "log_every": 20,
  "timeout": "1h30min"
}
)");
  CHECK(file.options() == Options{.l_max = 4096,
                                  .grouping = Grouping::greedy,
                                  .join = false,
                                  .global_batch_tokens = 65536,
                                  .data = {"a.jsonl", "b.jsonl"},
                                  .model = "modèles/\"demo\"",
                                  .warmup = 3e-4,
                                  .seed = 18446744073709551615u,
                                  .save_every = {.value = 1.5e6, .unit = Unit::tokens},
                                  .log_every = Amount{.value = 20, .unit = Unit::steps},
                                  .timeout = std::chrono::minutes(90)});
  CHECK(ConfigFile("{}").options() == Options{});
  CHECK(ConfigFile(R"({"data": "one.jsonl", "warmup": 0})").options() ==
        Options{.data = {"one.jsonl"}, .warmup = 0});
}

TEST_CASE("a fault in a config file is reported with line, column and key") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      // unknown and repeated keys
      {"{\n  \"l_maxx\": 3\n}", "train.json:2:3: unknown key \"l_maxx\"; did you mean l_max?"},
      {"{\"l-max\": 3}", "train.json:1:2: unknown key \"l-max\"; did you mean l_max?"},
      {"{\"seed\": 1,\n \"join\": true, \"seed\": 2}",
       "train.json:2:16: the key seed is given twice; give it once"},
      // columns count characters, not bytes
      {"{ /* é */ \"sead\": 1}", "train.json:1:11: unknown key \"sead\"; did you mean seed?"},
      {"{\"model\": \"x\", \"se\\\"ed\": 1}",
       "train.json:1:16: unknown key \"se\"ed\"; did you mean seed?"},
      // types
      {"{\"l_max\": \"3\"}",
       "train.json:1:2: l_max: found the text \"3\", expected an integer, at least 1 (tokens)"},
      {"{\"l_max\": 8192.5}",
       "train.json:1:2: l_max: found 8192.5, expected an integer, at least 1 (tokens)"},
      {"{\"l_max\": 99999999999999999999}",
       "train.json:1:2: l_max: found 1e+20, expected an integer, at least 1 (tokens)"},
      {"{\"l_max\": null}",
       "train.json:1:2: l_max: found null, expected an integer, at least 1 (tokens)"},
      {"{\"accumulate\": true}",
       "train.json:1:2: accumulate: found true, expected an integer, at least 1 (micro-steps), or "
       "null"},
      {"{\"join\": \"on\"}", "train.json:1:2: join: found the text \"on\", expected true or false"},
      {"{\"model\": 3}",
       "train.json:1:2: model: found 3, expected a text in quotes: a path, or null"},
      {"{\"timeout\": 90}",
       "train.json:1:2: timeout: found 90, expected a text in quotes: a duration such as 90s, "
       "5min, 1h30min (ms, s, min, h, d), at least 1s"},
      {"{\"model\": {\"a\": {\"b\": 1}}}",
       "train.json:1:2: model: found an object, expected a text in quotes: a path, or null"},
      {"{\"model\": [\"a\"]}",
       "train.json:1:2: model: found a list, expected a text in quotes: a path, or null"},
      {"{\"data\": [\"a\", 3]}",
       "train.json:1:2: data: found 3, expected a list of values, each a "
       "text in quotes: a path"},
      // ranges, with the same messages as for flags
      {"{\n\n\t\"workers\": 65}",
       "train.json:3:2: workers: found '65', expected an integer, at least 1, at most 64"},
      {"{\"grouping\": \"best\"}",
       "train.json:1:2: grouping: found 'best', expected one of greedy, fit"},
      {"{\"log_every\": 0}",
       "train.json:1:2: log_every: found '0' (must be more than 0), expected an amount: 100 steps "
       "or 30min (a plain number means steps)"},
      // exclusive options
      {"{\"accumulate\": 2,\n \"global_batch_tokens\": 64}",
       "train.json:1:2: accumulate and train.json:2:2: global_batch_tokens exclude each other; "
       "give one of them"},
      // malformed
      {"{\"seed\": 1,}",
       "train.json:1:12: malformed JSON: syntax error while parsing object key - unexpected '}'; "
       "expected string literal"},
      {"", "train.json:1:1: the file is empty, expected a JSON object with option names as keys"},
      {" \n",
       "train.json:1:1: the file is empty, expected a JSON object with option names as keys"},
      {"[1]", "train.json:1:1: found array, expected an object with option names as keys"},
      {"null", "train.json:1:1: found null, expected an object with option names as keys"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(ConfigFile(row.text).refused() == row.message);
  }
  CHECK_THAT(ConfigFile("{\n \"seed\": 1\n \"join\": true}").refused(),
             Catch::StartsWith("train.json:3:7: malformed JSON: "));
  CHECK_THAT(ConfigFile("{\n \"seed\": tru}").refused(),
             Catch::StartsWith("train.json:2:13: malformed JSON: "));
  CHECK_THAT(ConfigFile("{\"warmup\": 1e999}").refused(),
             Catch::StartsWith("train.json:1:") && Catch::Contains("1e999"));
  CHECK_THAT(ConfigFile("{\"model\": \"\xff\"}").refused(),
             Catch::StartsWith("train.json:1:12: malformed JSON: "));
  CHECK(ConfigFile("{\"model\":\n" + std::string(200000, '[') + std::string(200000, ']') + "}")
            .refused() == "train.json:2:101: found values nested more than 100 deep");
  CHECK_THAT(ConfigFile("{} {}").refused(), Catch::StartsWith("train.json:1:4: malformed JSON: "));
}

TEST_CASE("a config file that cannot be read is named with the reason") {
  const TemporaryFolder folder;
  const Described example;
  const auto refused = [&](const std::string& path) {
    return message_of<UsageError>([&] { read_config_file(example.table, path); });
  };
  CHECK(refused(folder / "none.json") == "--config " + (folder / "none.json") +
                                             ": cannot read the file: No such file or directory "
                                             "(errno 2)");
  CHECK(refused(folder.path()) ==
        "--config " + folder.path() + ": cannot read the file: Is a directory (errno 21)");
}

TEST_CASE("flags override the file, also within an exclusive set") {
  const ConfigFile file(
      R"({"l_max": 4096, "global_batch_tokens": 64, "data": ["a", "b"], "workers": 3})");
  const auto merged = [&](const Texts& arguments) {
    Described example;
    merge_values(example.table, read_config_file(example.table, file.path),
                 parse_flags(example.table.options(), arguments).values);
    return example.options;
  };
  Options expected{.l_max = 4096, .global_batch_tokens = 64, .data = {"a", "b"}, .workers = 3};
  CHECK(merged({}) == expected);

  expected.l_max = 100;
  expected.data = {"c"};
  CHECK(merged({"--l-max", "100", "--data", "c"}) == expected);

  expected = {.l_max = 4096, .accumulate = 2, .data = {"a", "b"}, .workers = 3};
  CHECK(merged({"--accumulate", "2"}) == expected);

  expected.accumulate.reset();
  CHECK(merged({"--global-batch-tokens", "none"}) == expected);

  CHECK(message_of<UsageError>([&] { merged({"--accumulate=2", "--global-batch-samples=3"}); }) ==
        "--accumulate and --global-batch-samples exclude each other; give one of them");
  CHECK(message_of<UsageError>([&] { merged({"--workers=0"}); }) ==
        "--workers: found '0', expected an integer, at least 1, at most 64");
}

TEST_CASE("whole numbers are integers however they are written") {
  CHECK(ConfigFile(R"({"l_max": 8e3, "workers": 4.0, "seed": -0.0})").options() ==
        Options{.l_max = 8000, .seed = 0, .workers = 4});
  CHECK(ConfigFile(R"({"workers": 1e300})").refused() ==
        "train.json:1:2: workers: found 1e+300, expected an integer, at least 1, at most 64");
}

TEST_CASE("an empty list is refused where the default is none") {
  std::vector<int64_t> l_max = {8192};
  OptionTable table;
  table.add("l-max", l_max).at_least(1).help("token budgets");
  CHECK(message_of<UsageError>([&] {
          merge_values(table, {{.option = table.find("l-max"), .place = "a.json:1:2", .texts = {}}},
                       {});
        }) == "a.json:1:2: found no value, expected one or more, each an integer, at least 1");
  CHECK(l_max == std::vector<int64_t>{8192});
}

TEST_CASE("a rule's message says where the file gave the options that it names") {
  const ConfigFile file(R"({"workers": 3, "l_max": 4, "seed": 1})");
  Described example;
  example.table.validate([] { throw UsageError("--l-max without --seed-all and --workers"); });
  const auto values = read_config_file(example.table, file.path);
  merge_values(example.table, values, parse_flags(example.table.options(), {"--data=a"}).values);
  CHECK(message_of<UsageError>([&] { check_merged(example.table, values); }) ==
        "--l-max without --seed-all and --workers (" + file.path + ":1:2: workers, " + file.path +
            ":1:16: l_max)");
}

// Searching for every key from the start of the file would exceed the test's time limit.
TEST_CASE("a config file of very many keys is refused at its first unknown one") {
  std::string text = "{";
  for (int i = 0; i < 400'000; ++i)
    text += "\"other\":" + std::string(90, ' ') + "1,";
  text.back() = '}';
  CHECK_THAT(ConfigFile(text).refused(),
             Catch::StartsWith("train.json:1:2: unknown key \"other\""));
}

TEST_CASE("a config file cut off anywhere is malformed, at a place within it") {
  const std::string whole =
      "{ // so\n \"l_max\": 4096, \"mo\\\"del\": [\"a\", -1.5e3, {\"x\": null}]}";
  for (size_t size = 1; size < whole.size(); ++size) {
    const std::string text = whole.substr(0, size);
    INFO(text);
    const std::string message = ConfigFile(text).refused();
    CHECK_THAT(message, Catch::StartsWith("train.json:1:") || Catch::StartsWith("train.json:2:"));
    CHECK_THAT(message, Catch::Contains("malformed JSON"));
  }
}
