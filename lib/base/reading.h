// The result of reading a text as a value: the value, or why the text is not one. Readers of single
// values return this; the caller, who knows the place (an option, a line of a file), reports it.
#pragma once

#include <optional>
#include <string>

namespace odb {

template <typename T>
struct Reading {
  std::optional<T> value;
  std::string problem = "";  // when there is no value, may be empty: "unknown unit 'x'"
};

}  // namespace odb
