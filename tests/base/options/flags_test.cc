#include "base/options/sources.h"
#include "catch.h"
#include "example.h"

using namespace odb;
using namespace odb::example;
using Texts = std::vector<std::string>;

namespace {

// "--l-max=8 --data=a --data=b | words": what parse_flags gives, in one line.
std::string parsed(const Texts& arguments) {
  const Described example;
  const Flags flags = parse_flags(example.table.options(), arguments);
  std::string text;
  for (const GivenValue& value : flags.values) {
    if (value.texts.empty()) text += value.place + " none; ";
    for (const std::string& one : value.texts)
      text += value.place + "=" + one + "; ";
  }
  text += "|";
  for (const std::string& word : flags.positional)
    text += " " + word;
  return text;
}

std::string refused(const Texts& arguments) {
  return message_of<UsageError>([&] { parsed(arguments); });
}

}  // namespace

TEST_CASE("flags are read joined by = or followed by their value, mixed with other arguments") {
  struct Row {
    Texts arguments;
    const char* parsed;
  };
  const Row rows[] = {
      {{}, "|"},
      {{"--l-max", "8192"}, "--l-max=8192; |"},
      {{"--l-max=8192"}, "--l-max=8192; |"},
      {{"run-1", "--join", "off", "run-2"}, "--join=off; | run-1 run-2"},
      {{"--data", "a,b", "--seed=3", "--data=c=d"}, "--data=a,b; --data=c=d; --seed=3; |"},
      {{"--l-max", "-5"}, "--l-max=-5; |"},
      {{"--model="}, "--model=; |"},
      {{"--model=--join"}, "--model=--join; |"},
      {{"--model", "-"}, "--model=-; |"},
      {{"--model", "a b\nc"}, "--model=a b\nc; |"},
      {{"--accumulate", "none"}, "--accumulate none; |"},
      {{"--model", "none"}, "--model=none; |"},
      {{"-"}, "| -"},
      {{"--join", "on", "--", "--l-max", "3", "--"}, "--join=on; | --l-max 3 --"},
  };
  for (const Row& row : rows) {
    INFO(row.parsed);
    CHECK(parsed(row.arguments) == row.parsed);
  }
}

TEST_CASE("unknown, repeated and incomplete flags are refused") {
  struct Row {
    Texts arguments;
    const char* message;
  };
  const Row rows[] = {
      {{"--l-maxx", "3"}, "unknown option --l-maxx; did you mean --l-max?"},
      {{"--l-maxx=3"}, "unknown option --l-maxx; did you mean --l-max?"},
      {{"--l_max", "3"}, "unknown option --l_max; did you mean --l-max?"},
      {{"-l-max", "3"}, "unknown option -l-max; did you mean --l-max?"},
      {{"--global-batch", "3"},
       "unknown option --global-batch; did you mean --global-batch-tokens or "
       "--global-batch-samples?"},
      {{"--seed", "1", "--seed", "2"}, "--seed is given twice: 1 and 2; give it once"},
      {{"--seed=1", "--seed=1"}, "--seed is given twice: 1 and 1; give it once"},
      {{"--seed"}, "--seed needs a value, but is the last argument"},
      {{"--model", "--join", "off"},
       "--model needs a value, found the flag --join; expected a path"},
      {{"--model", "--l-max=8"}, "--model needs a value, found the flag --l-max; expected a path"},
      {{"--model", "--l-maxx", "8"},
       "--model needs a value, found the flag --l-maxx; expected a path"},
      {{"--model", "caf\xe9"}, "--model: the value is not valid UTF-8"},
  };
  for (const Row& row : rows) {
    INFO(row.message);
    CHECK(refused(row.arguments) == row.message);
  }
  CHECK_THAT(refused({"-s"}), Catch::StartsWith("unknown option -s; did you mean --seed or"));
  CHECK(refused({"-x"}) == "unknown option -x; --help lists all");
  CHECK_THAT(refused({"--=3"}), Catch::StartsWith("unknown option --; did you mean"));
}

TEST_CASE("a switch takes no value") {
  bool json = false;
  OptionTable table;
  table.add_switch("json", json).help("print JSON");
  const auto flags = [&](const Texts& arguments) {
    return parse_flags(table.options(), arguments);
  };
  CHECK(flags({"--json", "word"}).positional == Texts{"word"});
  CHECK(flags({"--json", "word"}).values.at(0).texts == Texts{"on"});
  CHECK(flags({"--json", "--json"}).values.size() == 1);
  CHECK(message_of<UsageError>([&] { flags({"--json=off"}); }) ==
        "--json takes no value, found 'off'");
  CHECK(message_of<UsageError>([&] { flags({"--json=on"}); }) ==
        "--json takes no value, found 'on'");
}
