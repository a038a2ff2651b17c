#include "train/output/run_paths.h"

#include <fmt/format.h>

#include "base/text.h"

namespace odb {

std::string rank_name(int rank) {
  return fmt::format("rank-{:05}", rank);
}

std::optional<int> parse_rank_name(std::string_view name, std::string_view suffix) {
  const std::string_view prefix = "rank-";
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() < prefix.size() + suffix.size())
    return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  const auto rank = parse_integer<int>(name);
  if (!rank || *rank < 0 || rank_name(*rank).substr(prefix.size()) != name) return std::nullopt;
  return rank;
}

}  // namespace odb
