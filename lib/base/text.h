// Small readers of text that the system writes (/proc, /sys, environment values).
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace odb {

// U+FEFF in UTF-8, which some editors put in front of a text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The parts between separators: "a,,b" by ',' -> {"a", "", "b"}; "" -> {""}. Views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// The parts between blanks, tabs and line ends, none of them empty.
std::vector<std::string_view> split_words(std::string_view text);

// The lines without their ends; a line end at the very end does not start another line.
std::vector<std::string_view> split_lines(std::string_view text);

// Without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// The whole text as a decimal number in T's range; nothing else is accepted, not even blanks.
template <std::integral T>
std::optional<T> parse_integer(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace odb
