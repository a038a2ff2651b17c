// The general splitting steps of tokenizer files: Split by a pattern or a fixed text, and Digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tokenizer/splitter.h"

namespace odb {

// What happens to the matches, with the names of Hugging Face tokenizers.
enum class SplitBehavior {
  removed,               // matches are dropped
  isolated,              // each match is a piece of its own
  merged_with_previous,  // a match ends the piece before it
  merged_with_next,      // a match opens the piece after it
  contiguous             // matches that touch become one piece
};

struct SplitRule {
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what lies between the matches counts as the match
};

// `where` opens the messages of DataErrors about the pattern.
std::unique_ptr<Splitter> make_regex_splitter(std::string_view pattern, SplitRule rule,
                                              const std::string& where);
// An empty `text` matches nowhere.
std::unique_ptr<Splitter> make_text_splitter(std::string text, SplitRule rule);
// Numbers one by one, or each run of them.
std::unique_ptr<Splitter> make_digits_splitter(bool individual);

}  // namespace odb
