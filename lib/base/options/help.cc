// The help text in two columns. The layout of cxxopts is not used: it sets the columns anew for
// every group, leaves spaces at line ends and knows neither units nor ranges.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include <fmt/ranges.h>

#include "base/options/show.h"

namespace odb {
namespace {

constexpr size_t kDefaultWidth = 80;
constexpr size_t kMinWidth = 40;
constexpr size_t kWidestFlag = 28;  // a longer one has its meaning on the next line

std::string flag_column(const Option& option) {
  const std::string flag = (option.name == "help" ? "-h, " : "") + option.flag();
  return option.is_switch ? "  " + flag : fmt::format("  {} {}", flag, option.placeholder);
}

std::string default_text(const Option& option) {
  if (!option.default_note.empty()) return "default " + option.default_note;
  if (option.required) return "required";
  if (option.default_values.empty()) return "not given by default";
  const std::string values = fmt::format("{}", fmt::join(option.default_values, ", "));
  return values.empty() ? "empty by default" : "default " + values;
}

// "[tokens; at least 1; default 8192]"
std::string facts(const Option& option) {
  std::vector<std::string> parts;
  if (!option.choices.empty()) parts.push_back(fmt::format("{}", fmt::join(option.choices, " | ")));
  if (option.show_form) parts.push_back(option.form);
  if (!option.unit.empty()) parts.push_back(option.unit);
  if (!option.bounds.empty()) parts.push_back(option.range());
  if (option.repeatable) parts.push_back("may be repeated");
  if (!option.is_switch) parts.push_back(default_text(option));
  if (option.none_word && !option.default_values.empty()) parts.push_back("none switches it off");
  return parts.empty() ? "" : fmt::format("[{}]", fmt::join(parts, "; "));
}

// One option: its flag, then meaning and facts in the column that begins at `column`.
std::string entry(const Option& option, size_t column, size_t width) {
  std::string text = flag_column(option);
  if (text.size() + 2 > column) text += "\n";
  for (const std::string& part : {option.help, facts(option)}) {
    if (part.empty()) continue;
    const std::string wrapped = wrap(part, column, width);
    const size_t here = text.ends_with('\n') ? 0 : text.size();
    text += wrapped.substr(here) + "\n";
  }
  return text;
}

}  // namespace

std::string wrap(std::string_view text, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  std::string result = margin;
  size_t used = indent;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool first = used == indent;
    if (!first && used + 1 + word.size() > width) {
      result += "\n" + margin + word;
      used = indent + word.size();
    } else {
      result += first ? word : " " + word;
      used += (first ? 0 : 1) + word.size();
    }
  }
  return result;
}

std::string help_text(const std::vector<const Option*>& options, size_t width) {
  size_t column = 0;
  for (const Option* option : options)
    column = std::max(column, std::min(flag_column(*option).size(), kWidestFlag) + 2);
  // Several modules may add to one group: its heading is printed once, where it is first used.
  std::vector<std::string> groups;
  for (const Option* option : options)
    if (std::ranges::find(groups, option->group) == groups.end()) groups.push_back(option->group);

  std::string text;
  for (const std::string& group : groups) {
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", group);
    for (const Option* option : options)
      if (option->group == group) text += entry(*option, column, width);
  }
  return text;
}

size_t terminal_width() {
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kDefaultWidth;
  return std::max<size_t>(size.ws_col, kMinWidth);
}

}  // namespace odb
