// An option that was renamed is still read by its former name, from flags and config files.
#include <nlohmann/json.hpp>

#include "base/options/command_line.h"
#include "base/options/show.h"
#include "base/options/sources.h"
#include "catch.h"
#include "example.h"
#include "temporary_folder.h"

using namespace odb;
using namespace odb::example;
using Texts = std::vector<std::string>;

namespace {

enum class PairBy { cost, random };

struct Renamed {
  std::optional<int64_t> max_nan_steps;
  PairBy pair_by = PairBy::cost;
  bool quiet = false;
  OptionTable table;

  Renamed() {
    table.group("training");
    table.add("max-nan-steps", max_nan_steps)
        .formerly("most-nan-steps")
        .at_least(1)
        .help("steps without a finite gradient before the run ends");
    table.add("pair-by", pair_by, {{"cost", PairBy::cost}, {"random", PairBy::random}})
        .formerly("mates")
        .help("which groups share a slot");
    table.add_switch("quiet", quiet).formerly("silent").help("print errors only");
  }

  void read(const Texts& arguments) {
    const CommandUsage usage{.name = "train", .summary = "Trains."};
    (void)read_command_line(table, usage, arguments, 100);
  }
};

std::string refused(const Texts& arguments) {
  return message_of<UsageError>([&] { Renamed().read(arguments); });
}

std::string shown(const std::string& asking) {
  Renamed renamed;
  return read_command_line(renamed.table, {.name = "train", .summary = "Trains."}, {asking}, 100)
      .answer;
}

}  // namespace

TEST_CASE("a former name works as a flag and as a key") {
  const TemporaryFolder folder;
  Renamed flags;
  flags.read({"--most-nan-steps", "5", "--mates=random", "--silent"});
  CHECK(flags.max_nan_steps == 5);
  CHECK(flags.pair_by == PairBy::random);
  CHECK(flags.quiet);

  Renamed file;
  const std::string path =
      folder.write("train.json", R"({"most_nan_steps": 7, "mates": "random", "silent": true})");
  file.read({"--config", path});
  CHECK(file.max_nan_steps == 7);
  CHECK(file.pair_by == PairBy::random);
  CHECK(file.quiet);

  Renamed both;
  both.read({"--config", path, "--max-nan-steps", "9"});
  CHECK(both.max_nan_steps == 9);
}

TEST_CASE("messages name an option as it was given") {
  CHECK(refused({"--mates", "best"}) == "--mates: found 'best', expected one of cost, random");
  CHECK(refused({"--pair-by", "best"}) == "--pair-by: found 'best', expected one of cost, random");
  CHECK(refused({"--mates", "--silent"}) ==
        "--mates needs a value, found the flag --silent; expected one of cost, random");
  CHECK(refused({"--silent=on"}) == "--silent takes no value, found 'on'");
  CHECK(refused({"--pair-bi", "cost"}) == "unknown option --pair-bi; did you mean --pair-by?");

  const TemporaryFolder folder;
  const std::string path = folder.write("train.json", R"({"most_nan_steps": 0})");
  CHECK(refused({"--config", path}) ==
        path + ":1:2: most_nan_steps: found '0', expected an integer, at least 1");
}

TEST_CASE("both names of an option in one source are refused") {
  CHECK(refused({"--pair-by", "cost", "--mates", "random"}) ==
        "--pair-by is given twice: cost and random; give it once");
  const TemporaryFolder folder;
  const std::string path = folder.write("train.json", R"({"mates": "cost", "pair_by": "cost"})");
  CHECK(refused({"--config", path}) ==
        path + ":1:19: the key pair_by is given twice; give it once");
}

TEST_CASE("a former name is not shown, but a schema accepts it") {
  for (const char* asking : {"--help", "--print-config"}) {
    INFO(asking);
    CHECK_THAT(shown(asking), !Catch::Contains("mates") && !Catch::Contains("most"));
  }
  const auto schema = nlohmann::json::parse(shown("--print-schema"));
  CHECK(schema["properties"]["mates"]["enum"] == nlohmann::json{"cost", "random"});
  CHECK(schema["properties"]["mates"]["deprecated"] == true);
  CHECK_FALSE(schema["properties"]["pair_by"].contains("deprecated"));
}

TEST_CASE("a name that stands for two options is found") {
  Renamed good;
  CHECK_NOTHROW(good.table.check_declarations());
  Renamed bad;
  int64_t mates = 0;
  bad.table.add("mates", mates).help("a count");
  CHECK_THAT(message_of<InternalError>([&] { bad.table.check_declarations(); }),
             Catch::Contains("the option mates is declared twice"));
}
