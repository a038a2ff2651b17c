// How the sources are merged, and the checks once they are.
#include <algorithm>
#include <cctype>

#include <fmt/ranges.h>

#include "base/options/sources.h"

namespace odb {
namespace {

using Names = std::vector<std::string>;

// The places in one source that give an option of this set a value.
std::vector<std::string> givers(const std::vector<GivenValue>& values, const Names& set) {
  std::vector<std::string> places;
  for (const GivenValue& value : values)
    if (!value.texts.empty() && std::ranges::find(set, value.option->name) != set.end())
      places.push_back(value.place);
  return places;
}

void check_exclusive(const OptionTable& table, const std::vector<GivenValue>& values) {
  for (const Names& set : table.exclusive_sets()) {
    const std::vector<std::string> places = givers(values, set);
    if (places.size() > 1)
      throw UsageError("{} exclude each other; give one of them", fmt::join(places, " and "));
  }
}

void write(const GivenValue& value) {
  try {
    value.option->write(value.texts);
  } catch (const UsageError& error) {
    throw UsageError("{}: {}", value.place, error.what());
  }
}

bool names_flag(std::string_view message, const std::string& flag) {
  const size_t at = message.find(flag);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = message.substr(at + flag.size());
  const bool goes_on =
      !rest.empty() && (std::isalnum(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '-');
  return !goes_on || names_flag(rest, flag);
}

// " (train.json:3:5: l_max)" for the values of a file whose flags the message names.
std::string places_of_named(std::string_view message, const std::vector<GivenValue>& from_file) {
  std::vector<std::string> places;
  for (const GivenValue& value : from_file)
    if (names_flag(message, value.option->flag())) places.push_back(value.place);
  return places.empty() ? "" : fmt::format(" ({})", fmt::join(places, ", "));
}

}  // namespace

void merge_values(OptionTable& table, const std::vector<GivenValue>& from_file,
                  const std::vector<GivenValue>& from_flags) {
  check_exclusive(table, from_file);
  check_exclusive(table, from_flags);
  for (const GivenValue& value : from_file)
    write(value);
  for (const Names& set : table.exclusive_sets())
    if (!givers(from_flags, set).empty())
      for (const std::string& name : set)
        table.find(name)->write({});
  for (const GivenValue& value : from_flags)
    write(value);
}

void check_merged(const OptionTable& table, const std::vector<GivenValue>& from_file) {
  for (const Option* option : table.options())
    if (option->required && !option->is_given())
      throw UsageError("{} is missing; expected: {}", option->flag(), option->help);
  try {
    for (const auto& rule : table.rules())
      rule();
  } catch (const UsageError& error) {
    throw UsageError("{}{}", error.what(), places_of_named(error.what(), from_file));
  }
}

}  // namespace odb
