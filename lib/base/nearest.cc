#include "base/nearest.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace odb {
namespace {

constexpr size_t kMaxSuggestions = 3;

// Optimal string alignment over three rows: the distances of the prefixes of `a` of this length,
// one and two less to all prefixes of `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_back(b.size() + 1), back(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    two_back.swap(back);
    back.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = back[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& known) {
  std::vector<std::string> begun;
  std::vector<std::string> nearest;
  size_t least = std::max<size_t>(1, name.size() / 3);
  for (const std::string& candidate : known) {
    if (!name.empty() && candidate.starts_with(name)) begun.push_back(candidate);
    const size_t distance = edit_distance(name, candidate);
    if (distance < least) nearest.clear();
    least = std::min(least, distance);
    if (distance == least) nearest.push_back(candidate);
  }
  std::vector<std::string>& result = begun.empty() ? nearest : begun;
  result.resize(std::min(result.size(), kMaxSuggestions));
  return std::move(result);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         std::string_view otherwise) {
  const std::vector<std::string> names = nearest_names(name, known);
  return names.empty() ? std::string(otherwise)
                       : fmt::format("did you mean {}?", fmt::join(names, " or "));
}

}  // namespace odb
