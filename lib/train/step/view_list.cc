#include "train/step/view_list.h"

#include <algorithm>

#include <fmt/format.h>

namespace odb {

std::string view_list(std::span<const ViewId> views) {
  constexpr std::size_t kMax = 10;
  if (views.empty()) return "none";
  const auto first = views.first(std::min(views.size(), kMax));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (views.size() > kMax) text += fmt::format(" and {} more", views.size() - kMax);
  return text;
}

}  // namespace odb
