// The batching options as entries of a command's option table: names, units, ranges, help.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/options/table.h"
#include "batching/options.h"

namespace odb {

// (name, value) of every enumerator, so that the words exist once.
template <typename Enum>
std::vector<std::pair<std::string, Enum>> named(std::initializer_list<Enum> values) {
  std::vector<std::pair<std::string, Enum>> result;
  for (const Enum value : values)
    result.emplace_back(name(value), value);
  return result;
}

// Declares every option of `options`, which must outlive `table`. What spans several options is
// checked by resolve().
void describe(OptionTable& table, BatchingOptions& options);

}  // namespace odb
