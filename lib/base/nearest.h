// Suggestions for mistyped names: "did you mean --l-max?".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odb {

// The known names that `name` most likely stands for: those that start with it, else those at the
// smallest edit distance (insert, delete, substitute, swap of neighbors; Damerau 1964, each place
// edited once), unless that is above a third of the name's length and above one. At most three, in
// the order of `known`.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& known);

// "did you mean A?", "did you mean A or B?"; `otherwise` (how to list all names) when none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         std::string_view otherwise);

}  // namespace odb
