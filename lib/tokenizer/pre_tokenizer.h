// The chain of steps that cuts a text into words: Split, Digits and ByteLevel, in a Sequence or
// alone. ByteLevel must come last: it is what maps words to bytes, and bytes are what we work on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokenizer/splitter.h"

namespace odb {

class PreTokenizer {
 public:
  // Working space of split(), for reuse; one per thread.
  struct Scratch {
    std::vector<Span> words;
    std::vector<Span> parts;
    std::string prefixed;
  };

  // Reads the "pre_tokenizer" component. Throws DataError beginning with `where` for an unknown
  // type, a pattern outside our dialect, or a chain that does not end in ByteLevel.
  static PreTokenizer parse(const nlohmann::json& component, const std::string& where);

  // Cuts `text` (not empty, valid UTF-8) into scratch.words. Returns the text that they are spans
  // of: `text`, or scratch.prefixed where the chain puts a blank before a part (add_prefix_space).
  std::string_view split(std::string_view text, Scratch& scratch) const;

 private:
  void add(const nlohmann::json& component, const std::string& where);
  void add_split(const nlohmann::json& component, const std::string& where);
  void add_byte_level(const nlohmann::json& component, const std::string& where);
  static std::string_view prefix_blanks(std::string_view text, Scratch& scratch);

  std::vector<std::unique_ptr<Splitter>> steps_;
  std::unique_ptr<Splitter> built_in_;  // ByteLevel's own pattern, after the blank is put in
  bool add_prefix_space_ = false;
  bool has_byte_level_ = false;
};

}  // namespace odb
