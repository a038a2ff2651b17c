// Flags by cxxopts. Every option is declared to it as a repeatable text: its own conversion would
// split texts at commas, and its messages name neither ranges nor the nearest name.
#include <algorithm>
#include <cctype>

#include <cxxopts.hpp>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/options/sources.h"

namespace odb {
namespace {

using Arguments = std::vector<std::string>;

void declare(cxxopts::Options& parser, const Option& option) {
  for (const std::string& name : option.all_names()) {
    const auto value = cxxopts::value<std::string>();
    parser.add_options()((name == "help" ? "h," : "") + name, "",
                         option.is_switch ? value->implicit_value("on") : value);
  }
}

bool has_name(const Option& option, const std::string& name) {
  return option.name == name ||
         std::ranges::find(option.former_names, name) != option.former_names.end();
}

cxxopts::ParseResult parse(cxxopts::Options& parser, const Arguments& arguments) {
  std::vector<const char*> argv{"odb-trainer"};
  for (const std::string& argument : arguments)
    argv.push_back(argument.c_str());
  try {
    return parser.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::missing_argument&) {
    throw UsageError("{} needs a value, but is the last argument", arguments.back());
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError("{}", error.what());
  }
}

[[noreturn]] void refuse_unknown(std::string word, const Arguments& arguments,
                                 const std::vector<const Option*>& options) {
  // cxxopts takes "-lr" for the letters l and r, and passes them on one by one.
  const auto whole = std::ranges::find_if(arguments, [&](const std::string& argument) {
    return argument.starts_with(word) && !argument.starts_with("--");
  });
  if (!word.starts_with("--") && whole != arguments.end()) word = *whole;
  word = word.substr(0, word.find('='));
  std::vector<std::string> flags;
  flags.reserve(options.size());
  for (const Option* option : options)
    flags.push_back(option->flag());
  const std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  throw UsageError("unknown option {}; {}", word,
                   did_you_mean("--" + name, flags, "--help lists all"));
}

// A switch is "on" when it is given. cxxopts would also accept a joined value.
void check_switches(const Arguments& arguments, const std::vector<const Option*>& options) {
  for (const std::string& argument : arguments)
    for (const Option* option : options)
      for (const std::string& name : option->all_names())
        if (option->is_switch && argument.starts_with(flag_of(name) + "="))
          throw UsageError("{} takes no value, found '{}'", flag_of(name),
                           argument.substr(flag_of(name).size() + 1));
}

// "--l-max", "--l-max=8", also with a name that is misspelled: no value begins like this.
bool looks_like_flag(const std::string& value) {
  return value.size() > 2 && value.starts_with("--") &&
         std::isalpha(static_cast<unsigned char>(value[2])) != 0;
}

// A flag in the place of a value means that the value was forgotten, unless joined by "=".
void check_value(const Option& option, const std::string& flag, const std::string& value,
                 const Arguments& arguments) {
  const bool joined = std::ranges::find(arguments, flag + "=" + value) != arguments.end();
  if (looks_like_flag(value) && !joined)
    throw UsageError("{} needs a value, found the flag {}; expected {}", flag,
                     value.substr(0, value.find('=')), option.expected());
  try {
    (void)nlohmann::json(value).dump();  // the config of a run must be able to hold it
  } catch (const nlohmann::json::exception&) {
    throw UsageError("{}: the value is not valid UTF-8", flag);
  }
}

void add_value(std::vector<GivenValue>& values, const Option& option, const std::string& flag,
               const std::string& text) {
  const auto known = std::ranges::find(values, &option, &GivenValue::option);
  if (known == values.end()) {
    values.push_back({.option = &option, .place = flag, .texts = {text}});
  } else if (option.repeatable) {
    known->texts.push_back(text);
  } else if (!option.is_switch) {
    throw UsageError("{} is given twice: {} and {}; give it once", option.flag(),
                     known->texts.front(), text);
  }
}

}  // namespace

Flags parse_flags(const std::vector<const Option*>& options, const Arguments& arguments) {
  cxxopts::Options parser("odb-trainer");
  parser.allow_unrecognised_options();
  for (const Option* option : options)
    declare(parser, *option);

  // Arguments after "--" do not go to cxxopts: it would return them as unknown flags.
  const auto end = std::ranges::find(arguments, "--");
  const Arguments before(arguments.begin(), end);
  check_switches(before, options);
  const cxxopts::ParseResult result = parse(parser, before);

  Flags flags;
  for (const std::string& word : result.unmatched()) {
    if (word.size() > 1 && word.starts_with('-')) refuse_unknown(word, before, options);
    flags.positional.push_back(word);
  }
  if (end != arguments.end())
    flags.positional.insert(flags.positional.end(), end + 1, arguments.end());

  for (const cxxopts::KeyValue& given : result.arguments()) {
    const Option& option = **std::ranges::find_if(
        options, [&](const Option* candidate) { return has_name(*candidate, given.key()); });
    const std::string flag = flag_of(given.key());
    check_value(option, flag, given.value(), before);
    add_value(flags.values, option, flag, given.value());
  }
  for (GivenValue& value : flags.values)
    if (value.option->none_word && value.texts == Arguments{"none"}) value.texts.clear();
  return flags;
}

}  // namespace odb
