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
  return "--" + name;
}

std::string Option::key() const {
  std::string result = name;
  std::ranges::replace(result, '-', '_');
  return result;
}

std::string Option::range() const {
  std::string text;
  for (const OptionBound& bound : bounds)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", side_words(bound.side), bound.value);
  return text;
}

std::string Option::wanted() const {
  std::string text = choices.empty() ? form : fmt::format("one of {}", fmt::join(choices, ", "));
  if (!bounds.empty()) text += ", " + range();
  if (!unit.empty()) text += fmt::format(" ({})", unit);
  return text;
}

}  // namespace odb
