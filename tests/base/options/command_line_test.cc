#include "base/options/command_line.h"

#include <sstream>

#include <nlohmann/json.hpp>

#include "base/options/show.h"
#include "base/options/sources.h"
#include "catch.h"
#include "example.h"
#include "temporary_folder.h"

using namespace odb;
using namespace odb::example;
using Texts = std::vector<std::string>;

namespace {

constexpr size_t kWidth = 80;

CommandUsage train() {
  return {.name = "train", .summary = "Trains.", .positional = "", .takes_config = true};
}

}  // namespace

TEST_CASE("a command line gives the arguments and fills the options") {
  Described example;
  CommandUsage usage = train();
  usage.positional = "RUN...";
  const CommandLine line =
      read_command_line(example.table, usage, {"a", "--data", "d", "b", "--seed=3"}, kWidth);
  CHECK(line.answer.empty());
  CHECK(line.positional == Texts{"a", "b"});
  CHECK(example.options == Options{.data = {"d"}, .seed = 3});
}

TEST_CASE("faults in a command line are reported") {
  const TemporaryFolder folder;
  const auto refused = [&](const Texts& arguments) {
    Described example;
    example.table.validate([&] {
      if (!example.options.join && example.options.accumulate)
        throw UsageError("--accumulate needs --join on");
    });
    return message_of<UsageError>(
        [&] { read_command_line(example.table, train(), arguments, kWidth); });
  };
  CHECK(refused({}) == "--data is missing; expected: files with records");
  CHECK(refused({"--data=d", "run"}) ==
        "'run': odb-trainer train takes options only (--name value); see --help");
  CHECK(refused({"--data=d", "--confg=x"}) == "unknown option --confg; did you mean --config?");
  CHECK(refused({"--data=d", "--config", ""}) == "--config: found '', expected a path");
  CHECK(refused({"--config=a", "--config=b"}) == "--config is given twice: a and b; give it once");
  CHECK(refused({"--data=d", "--join=off", "--accumulate=2"}) == "--accumulate needs --join on");
  CHECK(refused({"--data=d", "--join=off"}).empty());
  // The general options are not keys of the file.
  const std::string path = folder.write("c.json", R"({"config": "x"})");
  CHECK_THAT(refused({"--data=d", "--config", path}), Catch::Contains("unknown key \"config\""));
}

TEST_CASE("a command without config file has no options for one") {
  Described example;
  CommandUsage usage = train();
  usage.takes_config = false;
  CHECK_THROWS_WITH(read_command_line(example.table, usage, {"--print-config"}, kWidth),
                    Catch::StartsWith("unknown option --print-config"));
}

TEST_CASE("print-config gives a file that loads back to the same options") {
  const TemporaryFolder folder;
  const Texts some_of_each = {"--l-max=64k",
                              "--grouping=greedy",
                              "--join=off",
                              "--global-batch-tokens=1M",
                              "--data=a \"quoted\" é.jsonl",
                              "--data=b",
                              "--model=m",
                              "--rendezvous=h:1",
                              "--warmup=0.1",
                              "--seed=18446744073709551615",
                              "--save-every=0.3e",
                              "--log-every=1h1ms",
                              "--timeout=1d",
                              "--cache=5GB"};
  for (const Texts& arguments : {Texts{}, some_of_each}) {
    Described first;
    Texts printing = arguments;
    printing.push_back("--print-config");
    const std::string printed = read_command_line(first.table, train(), printing, kWidth).answer;
    INFO(printed);
    const std::string path = folder.write("config.json", printed);

    Described second;
    merge_values(second.table, read_config_file(second.table, path), {});
    CHECK(second.options == first.options);
    CHECK(config_json(second.table) == printed);
  }
}

TEST_CASE("a printed config shows every option, those not given as null") {
  Described example;
  const std::string printed =
      read_command_line(example.table, train(), {"--print-config", "--l-max=9"}, kWidth).answer;
  CHECK(printed == R"({
  "l_max": 9,
  "grouping": "fit",
  "join": true,
  "accumulate": null,
  "global_batch_tokens": null,
  "global_batch_samples": null,
  "data": [],
  "model": null,
  "train_on": "answers",
  "rendezvous": "auto",
  "warmup": 0.03,
  "seed": 0,
  "workers": 2,
  "save_every": "500 steps",
  "log_every": null,
  "timeout": "5min",
  "cache": "5GiB"
}
)");
}

TEST_CASE("the schema states types, ranges, choices, defaults and exclusive sets") {
  using nlohmann::json;
  Described example;
  const json schema =
      json::parse(read_command_line(example.table, train(), {"--print-schema"}, kWidth).answer);
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["title"] == "odb-trainer train");
  CHECK(schema["type"] == "object");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["properties"].size() == example.table.names().size());
  const auto property = [&](const char* key) { return schema["properties"].at(key); };
  CHECK(property("l_max") == json::parse(R"({"type": "integer", "minimum": 1,
      "maximum": 9223372036854775807, "default": 8192,
      "description": "token budget of a group [in tokens]"})"));
  CHECK(property("grouping") == json::parse(R"({"type": "string", "enum": ["greedy", "fit"],
      "default": "fit", "description": "how groups are formed"})"));
  CHECK(property("join")["type"] == "boolean");
  CHECK(property("join")["default"] == true);
  CHECK(property("accumulate") == json::parse(R"({"type": ["integer", "null"], "minimum": 1,
      "maximum": 9223372036854775807, "default": null, "description":
      "micro-steps of a step [in micro-steps; default 1 unless the step has another length]"})"));
  CHECK(property("data") == json::parse(R"({"anyOf": [{"type": "array", "items":
      {"type": "string"}}, {"type": "string"}],
      "default": [],
      "description": "files with records [required, here or as a flag]"})"));
  CHECK_FALSE(schema.contains("required"));
  CHECK(property("warmup")["minimum"] == 0);
  CHECK(property("warmup")["exclusiveMaximum"] == 1);
  CHECK(property("workers")["maximum"] == 64);
  CHECK(property("seed")["minimum"] == 0);
  CHECK(property("seed")["maximum"] == 18446744073709551615u);
  CHECK(property("log_every")["type"] == json{"string", "number", "null"});
  CHECK(property("timeout")["description"] ==
        "a peer is lost when silent for this long [a duration such as 90s, 5min, 1h30min (ms, s, "
        "min, h, d); at least 1s]");
  CHECK(schema["allOf"].size() == 3);
  CHECK(schema["allOf"][0] == json::parse(R"({"not": {"required":
      ["accumulate", "global_batch_tokens"], "properties": {
      "accumulate": {"not": {"type": "null"}}, "global_batch_tokens": {"not": {"type": "null"}}}}})"));
}

TEST_CASE("the help text is grouped and shows meaning, unit, range, choices and default") {
  const Described example;
  CHECK(help_text({example.table.find("l-max"), example.table.find("data"),
                   example.table.find("grouping"), example.table.find("global-batch-samples"),
                   example.table.find("workers")},
                  60) == R"(batching:
  --l-max N                 token budget of a group
                            [tokens; at least 1; default
                            8192]
  --grouping NAME           how groups are formed
                            [greedy | fit; default fit]
  --global-batch-samples N  a step ends at this many samples
                            over all ranks
                            [samples; at least 1; not given
                            by default]

data:
  --data PATH               files with records
                            [may be repeated; required]

training:
  --workers N               data workers of a rank
                            [at least 1, at most 64; default
                            2]
)");
}

TEST_CASE("help is answered whatever else is given, within the width") {
  for (const size_t width : {size_t{50}, size_t{80}, size_t{200}}) {
    for (const Texts& arguments :
         {Texts{"--help"}, Texts{"-h"}, Texts{"--l-maxx", "3", "--help"}}) {
      Described example;
      const CommandLine line = read_command_line(example.table, train(), arguments, width);
      CHECK_THAT(line.answer,
                 Catch::StartsWith("odb-trainer train [options]\n\nTrains.\n\ngeneral:\n"));
      for (const std::string& name : example.table.names())
        CHECK_THAT(line.answer, Catch::Contains("  --" + name + " "));
      std::istringstream lines(line.answer);
      for (std::string one; std::getline(lines, one);) {
        INFO(one);
        CHECK(one.size() <= width);
        CHECK_FALSE(one.ends_with(' '));
      }
    }
  }
  Described example;
  CHECK_THROWS_AS(read_command_line(example.table, train(), {"--", "--help"}, kWidth), UsageError);
}

TEST_CASE("a required option may be a text, and the empty text is no value") {
  std::string model;
  OptionTable table;
  table.add("model", model).help("folder of the model");
  table.require({"model"});
  const CommandUsage usage{.name = "train", .summary = "Trains."};
  const auto refused = [&](const Texts& arguments) {
    return message_of<UsageError>([&] { read_command_line(table, usage, arguments, kWidth); });
  };
  CHECK(refused({}) == "--model is missing; expected: folder of the model");
  CHECK(refused({"--model="}) == "--model is missing; expected: folder of the model");
  CHECK(refused({"--model=m"}).empty());
  model.clear();
  for (const char* asking : {"--print-config", "--print-schema", "--help"})
    CHECK_FALSE(read_command_line(table, usage, {asking}, kWidth).answer.empty());
  CHECK_THAT(help_text(table.options(), 200), Catch::Contains("[required]"));
  const auto schema = nlohmann::json::parse(schema_json(table, "train"));
  CHECK_FALSE(schema.contains("required"));  // flags may give it
  CHECK_THAT(schema["properties"]["model"]["description"].get<std::string>(),
             Catch::Contains("[required, here or as a flag"));
  CHECK_FALSE(schema["properties"]["model"].contains("minLength"));  // --print-config has it empty
}

TEST_CASE("texts are wrapped at spaces, a longer word has a line of its own") {
  CHECK(wrap("aa bb cc", 0, 5) == "aa bb\ncc");
  CHECK(wrap("aa bb cc", 2, 7) == "  aa bb\n  cc");
  CHECK(wrap("a toolongword b", 0, 5) == "a\ntoolongword\nb");
  CHECK(wrap("", 2, 5) == "  ");
}

TEST_CASE("an optional value with a default can be switched off, by flag and by file") {
  std::optional<Amount> every = Amount{.value = 500, .unit = Unit::steps};
  OptionTable table;
  table.add("save-every", every).help("how often");
  CHECK_THAT(help_text(table.options(), 200),
             Catch::Contains("; default 500 steps; none switches it off]"));
  const CommandUsage usage{.name = "train", .summary = "Trains."};
  read_command_line(table, usage, {"--save-every", "none"}, kWidth);
  CHECK_FALSE(every.has_value());
  CHECK(config_json(table) == "{\n  \"save_every\": null\n}\n");
}
