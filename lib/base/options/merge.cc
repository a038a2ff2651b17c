#include <algorithm>

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

void check_merged(const OptionTable& table) {
  for (const Option* option : table.options())
    if (option->required && option->read().empty())
      throw UsageError("{} {} is missing: {}", option->flag(), option->placeholder, option->help);
  for (const auto& rule : table.rules())
    rule();
}

}  // namespace odb
