// Suggestions for mistyped names: "did you mean --l-max?".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odb {

// The known names that `name` most likely stands for: those that it begins, else those at the least
// edit distance (insert, drop, change, swap of neighbours; Damerau 1964, each place edited once).
// At most three, in the order of `known`; empty only when `known` is.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& known);

// "did you mean A?", "did you mean A or B?"; empty when nothing is known.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace odb
