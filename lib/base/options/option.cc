#include "base/options/option.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace odb {
namespace {

const char* side_words(OptionBound::Side side) {
  switch (side) {
    case OptionBound::Side::at_least:
      return "at least";
    case OptionBound::Side::above:
      return "above";
    case OptionBound::Side::at_most:
      return "at most";
    case OptionBound::Side::below:
      return "below";
  }
  return "";
}

}  // namespace

bool Option::is_given() const {
  return std::ranges::any_of(read(), [](const std::string& text) { return !text.empty(); });
}

std::string Option::flag() const {
  return flag_of(name);
}

std::string Option::key() const {
  return key_of(name);
}

std::vector<std::string> Option::all_names() const {
  std::vector<std::string> names{name};
  names.insert(names.end(), former_names.begin(), former_names.end());
  return names;
}

std::string Option::range() const {
  std::string text;
  for (const OptionBound& bound : bounds)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", side_words(bound.side), bound.value);
  return text;
}

std::string Option::expected() const {
  std::string text = choices.empty() ? form : fmt::format("one of {}", fmt::join(choices, ", "));
  if (!bounds.empty()) text += ", " + range();
  if (!unit.empty()) text += fmt::format(" ({})", unit);
  return text;
}

std::string flag_of(std::string_view name) {
  return "--" + std::string(name);
}

std::string key_of(std::string_view name) {
  std::string key(name);
  std::ranges::replace(key, '-', '_');
  return key;
}

}  // namespace odb
