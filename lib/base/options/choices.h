// The choices of an option whose variable is an enum.
//
// Every enum that is printed has one function `name(Enum)` beside it. Options, files and messages
// use it, so that each name is written once.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace odb {

// (name, value) of each value.
template <typename Enum>
std::vector<std::pair<std::string, Enum>> named(std::initializer_list<Enum> values) {
  std::vector<std::pair<std::string, Enum>> result;
  for (const Enum value : values)
    result.emplace_back(name(value), value);
  return result;
}

}  // namespace odb
