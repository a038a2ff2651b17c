#include "base/options/value.h"

#include <algorithm>

namespace odb {

Reading<bool> OptionType<bool>::read(std::string_view text, const OptionRules<bool>&) {
  if (text == "on") return {true};
  if (text == "off") return {false};
  return {};
}

Reading<std::string> OptionType<std::string>::read(std::string_view text,
                                                   const OptionRules<std::string>& rules) {
  const bool permitted =
      rules.choices.empty() ||
      std::ranges::any_of(rules.choices, [&](const auto& choice) { return choice.first == text; });
  if (!permitted) return {};
  return {std::string(text)};
}

Reading<std::filesystem::path> OptionType<std::filesystem::path>::read(
    std::string_view text, const OptionRules<std::filesystem::path>&) {
  if (text.empty()) return {};
  return {std::filesystem::path(text)};
}

}  // namespace odb
