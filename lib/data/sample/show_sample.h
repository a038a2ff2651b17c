// A sample as text, with its supervised tokens marked.
#pragma once

#include <string>

#include "data/sample/sample.h"
#include "tokenizer/tokenizer.h"

namespace odb {

// How supervised tokens are marked: green on a terminal, else between the two marks below.
enum class Highlight { color, marks };
constexpr std::string_view kSupervisedOpen = "\u27E6";   // mathematical left white square bracket
constexpr std::string_view kSupervisedClose = "\u27E7";  // and the right one

// The decoded tokens. A run that begins or ends inside a character shows U+FFFD there.
std::string show_sample(const Sample& sample, const Tokenizer& tokenizer, Highlight highlight);

}  // namespace odb
