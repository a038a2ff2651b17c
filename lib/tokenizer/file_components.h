// The smaller components of a tokenizer file: added tokens, normalizer, post-processor, decoder.
// Every function throws DataError beginning with `where` (file name and component).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokenizer/added_tokens.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/vocabulary.h"

namespace odb {

// Reads "added_tokens" and puts those that the model's vocabulary lacks into `vocabulary`. Refuses
// empty contents, contents given twice, and an id other than the one the vocabulary has.
std::vector<AddedToken> parse_added_tokens(const nlohmann::json& component, Vocabulary& vocabulary,
                                           const std::string& where);

// Whether "normalizer" asks for NFC. Null, NFC and sequences of NFC are known.
bool parse_normalizer(const nlohmann::json& component, const std::string& where);

// Reads "post_processor": null, ByteLevel (which changes no id), TemplateProcessing, Sequence.
// `vocabulary` must be sealed: the frame's ids must exist.
SequenceFrame parse_post_processor(const nlohmann::json& component, const Vocabulary& vocabulary,
                                   const std::string& where);

// Requires a ByteLevel decoder.
void check_decoder(const nlohmann::json& component, const std::string& where);

}  // namespace odb
