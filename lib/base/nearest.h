// Suggestions for mistyped names: "did you mean --l-max?".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odb {

// The known names that `name` most likely stands for: those that it begins, else those at the least
// edit distance (insert, drop, change, swap of neighbours; Damerau 1964, each place edited once),
// unless that is above a third of the name (and above one): then it was no slip of the hand. At
// most three, in the order of `known`.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& known);

// "did you mean A?", "did you mean A or B?"; `otherwise` (what tells all names) when none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         std::string_view otherwise);

}  // namespace odb
