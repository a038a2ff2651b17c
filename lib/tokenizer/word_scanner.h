// Hand-written scanners for the split patterns of well-known model families: one or two characters
// decide which alternative matches, so no regular expression has to run. ASCII is read in blocks
// (ascii_words.h), except under GPT-2's pattern.
//
// tests/tokenizer/word_scanner_test.cc compares every scanner with its pattern.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/splitter.h"

namespace odb {

// The split pattern that GPT-2's ByteLevel step has built in.
extern const std::string_view kGpt2Pattern;
// The patterns of Qwen2/2.5/3, of Llama 3 and of Qwen3.5 (marks count as letters).
extern const std::string_view kQwen2Pattern;
extern const std::string_view kLlama3Pattern;
extern const std::string_view kQwen35Pattern;

// The scanner for a pattern, used as a Split step of behavior Isolated; null when there is none.
std::unique_ptr<Splitter> make_word_scanner(std::string_view pattern);

}  // namespace odb
