// Lines of JSON for the commands that take texts and ids one per line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

// Reads one line at a time; holds the parser's working space. `where` ("FILE:7") opens the messages
// of the DataErrors.
class JsonLineReader {
 public:
  JsonLineReader();
  ~JsonLineReader();

  // "text" -> its text.
  std::string read_text(std::string_view line, const std::string& where);

  // [1, 2, 3] -> the ids.
  std::vector<TokenId> read_ids(std::string_view line, const std::string& where);

  // Every text of a record that a tokenizer would see: the line itself when it is a string,
  // else the strings named content, text, value, prompt, completion, instruction, input or output
  // at any depth of the object.
  std::vector<std::string> read_texts(std::string_view line, const std::string& where);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// The JSON string of a text (valid UTF-8, which stays as it is).
std::string json_of_text(std::string_view text);

}  // namespace odb
