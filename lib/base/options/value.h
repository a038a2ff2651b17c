// The types an option's variable may have, and how each is read from and printed as text: bool,
// integers, floating point, std::string, std::filesystem::path, durations, Amount, ByteSize and
// enums (through their choices); each also inside std::optional ("not given") and std::vector
// (repeatable).
#pragma once

#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/error.h"
#include "base/options/option.h"
#include "base/reading.h"

namespace odb {

// What a declaration adds to the type.
template <typename T>
struct OptionRules {
  std::string unit = "";
  std::vector<std::pair<std::string, T>> choices = {};
  AcceptedUnits accepted = {};                            // amounts only
  std::vector<std::function<bool(const T&)>> tests = {};  // all must hold
};

// Each specialization has kKind, kForm, kPlaceholder, read and print; kBareNumber where JSON may
// also write the text as a number. Other modules may add specializations for types of their own.
template <typename T>
struct OptionType;

template <>
struct OptionType<bool> {
  static constexpr OptionKind kKind = OptionKind::boolean;
  static constexpr const char* kForm = "on or off";
  static constexpr const char* kPlaceholder = "on|off";
  static Reading<bool> read(std::string_view text, const OptionRules<bool>&);
  static std::string print(bool value, const OptionRules<bool>&) { return value ? "on" : "off"; }
};

template <std::integral T>
struct OptionType<T> {
  static constexpr OptionKind kKind = OptionKind::integer;
  static constexpr const char* kForm = "an integer";
  static constexpr const char* kPlaceholder = "N";

  static Reading<T> read(std::string_view text, const OptionRules<T>& rules) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return {value};
    const Reading<int64_t> count = read_count(text, rules.unit);
    if (!count.value) return {std::nullopt, count.problem};
    if (!std::in_range<T>(*count.value)) return {std::nullopt, "too large"};
    return {static_cast<T>(*count.value)};
  }
  static std::string print(T value, const OptionRules<T>&) { return fmt::format("{}", value); }
};

template <std::floating_point T>
struct OptionType<T> {
  static constexpr OptionKind kKind = OptionKind::number;
  static constexpr const char* kForm = "a number";
  static constexpr const char* kPlaceholder = "X";

  static Reading<T> read(std::string_view text, const OptionRules<T>&) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return {std::nullopt, "out of range"};
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      return {};
    return {value};
  }
  static std::string print(T value, const OptionRules<T>&) { return fmt::format("{}", value); }
};

template <>
struct OptionType<std::string> {
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm = "a text";
  static constexpr const char* kPlaceholder = "TEXT";
  static Reading<std::string> read(std::string_view text, const OptionRules<std::string>& rules);
  static std::string print(const std::string& value, const OptionRules<std::string>&) {
    return value;
  }
};

template <>
struct OptionType<std::filesystem::path> {
  using Path = std::filesystem::path;
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm = "a path";
  static constexpr const char* kPlaceholder = "PATH";
  static Reading<Path> read(std::string_view text, const OptionRules<Path>&);
  static std::string print(const Path& value, const OptionRules<Path>&) { return value.string(); }
};

template <>
struct OptionType<std::chrono::milliseconds> {
  using Duration = std::chrono::milliseconds;
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm = "a duration such as 90s, 5min, 1h30min (ms, s, min, h, d)";
  static constexpr const char* kPlaceholder = "DURATION";
  static Reading<Duration> read(std::string_view text, const OptionRules<Duration>&) {
    return read_duration(text);
  }
  static std::string print(Duration value, const OptionRules<Duration>&) {
    return print_duration(value);
  }
};

template <>
struct OptionType<ByteSize> {
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm =
      "a size such as 5GB or 512MiB (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)";
  static constexpr const char* kPlaceholder = "SIZE";
  static Reading<ByteSize> read(std::string_view text, const OptionRules<ByteSize>&) {
    return read_byte_size(text);
  }
  static std::string print(ByteSize value, const OptionRules<ByteSize>&) {
    return print_byte_size(value);
  }
};

template <>
struct OptionType<Amount> {
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm = "an amount";  // the declaration adds the units
  static constexpr const char* kPlaceholder = "AMOUNT";
  static Reading<Amount> read(std::string_view text, const OptionRules<Amount>& rules) {
    return read_amount(text, rules.accepted);
  }
  static std::string print(const Amount& value, const OptionRules<Amount>&) {
    return print_amount(value);
  }
};

template <typename T>
  requires std::is_enum_v<T>
struct OptionType<T> {
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm = "a name";
  static constexpr const char* kPlaceholder = "NAME";

  static Reading<T> read(std::string_view text, const OptionRules<T>& rules) {
    for (const auto& [name, value] : rules.choices)
      if (name == text) return {value};
    return {};
  }
  static std::string print(T value, const OptionRules<T>& rules) {
    for (const auto& [name, choice] : rules.choices)
      if (choice == value) return name;
    throw InternalError("an option's value {} is none of its choices", static_cast<int>(value));
  }
};

// The shape of a variable around its element type.
template <typename V>
struct OptionShape {
  using Element = V;
  static constexpr bool kOptional = false;
  static constexpr bool kRepeatable = false;
};
template <typename T>
struct OptionShape<std::optional<T>> {
  using Element = T;
  static constexpr bool kOptional = true;
  static constexpr bool kRepeatable = false;
};
template <typename T>
struct OptionShape<std::vector<T>> {
  using Element = T;
  static constexpr bool kOptional = false;
  static constexpr bool kRepeatable = true;
};

}  // namespace odb
