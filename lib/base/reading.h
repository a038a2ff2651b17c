// What reading a text as a value gave: the value, or why the text cannot be one. Readers of single
// values return this; whoever knows the place (an option, a line of a file) makes the message.
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
