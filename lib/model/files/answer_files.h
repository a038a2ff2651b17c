// What a run taught about answers, in the files that other programs read: which tokens end one, and
// the chat template around it. Without them a base model that learned to answer never stops.
//
//   config.json              eos_token_id
//   generation_config.json   eos_token_id, where the file exists: transformers reads it first
//   tokenizer_config.json    eos_token, chat_template
//   special_tokens_map.json  eos_token, where the file has one
//   chat_template.jinja      the chat template
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/files/config.h"

namespace odb {

struct AnswerFormat {
  std::vector<std::int64_t> end_tokens;  // that end answers, the most important first; may be empty
  std::string eos_token;                 // the text of the first one; empty: the tokenizer's stays
  std::string chat_template;             // in Jinja; empty: the tokenizer's stays
};

// The files that differ from those of the base model.
struct AnswerFiles {
  std::vector<std::int64_t> end_tokens;      // eos_token_id of config.json; empty: it stays
  std::map<std::string, std::string> files;  // content by name, without config.json

  bool empty() const { return end_tokens.empty() && files.empty(); }
};

// What must change in the folder of a model for `format`. Ids that the files name already stay,
// after the new ones; a file that needs no change is not in the result. `tokenizer`: a folder, the
// tokenizer's. FileError that names the file when one cannot be read.
AnswerFiles plan_answer_files(FileSystem& files, const std::string& model,
                              const std::string& tokenizer, const ModelConfig& config,
                              const AnswerFormat& format);

// Writes them durably into a folder that holds the other files of the model. FileError.
void write_answer_files(FileSystem& files, const AnswerFiles& answers, const std::string& folder);

}  // namespace odb
