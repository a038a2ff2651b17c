#include "plan/lengths.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr double kShortest = 16;
constexpr double kLongest = 8192;
constexpr std::int64_t kMaxLength = std::numeric_limits<std::int32_t>::max();

struct LogNormal {
  double median;
  double sigma;
};

struct Distribution {
  const char* name;
  LogNormal usual;
  LogNormal rare;  // taken with probability rare_share
  double rare_share = 0;
};

constexpr Distribution kDistributions[] = {
    {"chat", {412, 1.25}, {}, 0},          {"sharegpt-like", {900, 0.9}, {}, 0},
    {"caption", {560, 0.45}, {}, 0},       {"ultrachat-like", {1150, 0.5}, {}, 0},
    {"mix", {160, 0.25}, {400, 0.4}, 0.1},
};

const Distribution* find_distribution(std::string_view name) {
  const auto found = std::find_if(std::begin(kDistributions), std::end(kDistributions),
                                  [&](const Distribution& d) { return name == d.name; });
  return found == std::end(kDistributions) ? nullptr : found;
}

std::int32_t draw_length(const Distribution& distribution, std::uint64_t seed, std::uint64_t item) {
  Rng rng(seed, RandomPurpose::lengths, 0, item);
  const bool rare = distribution.rare_share > 0 && rng.uniform() < distribution.rare_share;
  const LogNormal& part = rare ? distribution.rare : distribution.usual;
  const double length = std::round(part.median * std::exp(part.sigma * rng.normal()));
  return static_cast<std::int32_t>(std::clamp(length, kShortest, kLongest));
}

std::vector<std::int32_t> parse_lines(std::string_view text, const std::string& where) {
  std::vector<std::int32_t> lengths;
  std::int64_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!line.empty() && is_blank(line.front()))
      line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back()))
      line.remove_suffix(1);
    if (line.empty()) continue;
    std::int64_t length = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), length);
    if (error != std::errc() || stop != line.data() + line.size() || length < 1 ||
        length > kMaxLength)
      throw DataError("{}:{}: found '{}'; expected a length in tokens, a whole number from 1 to {}",
                      where, line_number, line.substr(0, 40), kMaxLength);
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  return lengths;
}

std::vector<std::int32_t> parse_json(std::string_view text, const std::string& where) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(
        "{}: begins like JSON but is not valid JSON ({}); expected one length a line, a JSON "
        "list, or an object with the list \"lengths\"",
        where, error.what());
  }
  if (document.is_object()) {
    const auto found = document.find("lengths");
    if (found == document.end())
      throw DataError(
          "{}: the JSON object has no \"lengths\"; expected a list of lengths under that "
          "key",
          where);
    document = nlohmann::json(*found);
  }
  if (!document.is_array())
    throw DataError("{}: \"lengths\" is of type {}; expected a list of whole numbers", where,
                    document.type_name());
  std::vector<std::int32_t> lengths;
  lengths.reserve(document.size());
  for (const nlohmann::json& value : document) {
    const bool whole = value.is_number_integer();
    const std::int64_t length = whole ? value.get<std::int64_t>() : 0;
    if (length < 1 || length > kMaxLength)
      throw DataError("{}: element {} of the list is {}; expected a whole number from 1 to {}",
                      where, lengths.size(), value.dump().substr(0, 40), kMaxLength);
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  return lengths;
}

}  // namespace

std::vector<std::string> length_distributions() {
  std::vector<std::string> names;
  for (const Distribution& distribution : kDistributions)
    names.emplace_back(distribution.name);
  return names;
}

bool is_length_distribution(std::string_view name) {
  return find_distribution(name) != nullptr;
}

std::vector<std::int32_t> named_lengths(std::string_view name, std::int64_t samples,
                                        std::uint64_t seed) {
  const Distribution* distribution = find_distribution(name);
  if (distribution == nullptr)
    throw UsageError("--lengths {}: no such file or distribution; distributions: {}", name,
                     fmt::join(length_distributions(), ", "));
  if (samples < 1 || samples > kMaxSamples)
    throw UsageError("--samples {}; expected 1 to {}", samples, kMaxSamples);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = draw_length(*distribution, seed, i);
  return lengths;
}

std::vector<std::int32_t> parse_lengths(std::string_view text, const std::string& where) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
  std::vector<std::int32_t> lengths = json ? parse_json(text, where) : parse_lines(text, where);
  if (lengths.empty()) throw DataError("{}: contains no lengths; expected at least one", where);
  return lengths;
}

}  // namespace odb
