#include "test_tokenizers.h"

#include "base/real_file_system.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/word_scanner.h"

namespace odb {

using nlohmann::json;

std::string test_file(const std::string& path) {
  return std::string(ODB_TESTS_FOLDER) + "/" + path;
}

json read_json(const std::string& path) {
  return json::parse(RealFileSystem().read_all(path));
}

json family_file(const json& families, const std::string& name) {
  const json& family = families["families"][name];
  json file{{"version", "1.0"},
            {"added_tokens", family["added_tokens"]},
            {"normalizer", family.value("normalizer", json())},
            {"pre_tokenizer", family["pre_tokenizer"]},
            {"post_processor", family.value("post_processor", json())},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", families["model"]}};
  file["model"]["ignore_merges"] = family.value("ignore_merges", false);
  return file;
}

json small_file() {
  json vocabulary = json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocabulary[spell_bytes(std::string(1, static_cast<char>(byte)))] = byte;
  }
  vocabulary["ab"] = 256;
  vocabulary["abc"] = 257;
  const json split{{"type", "Split"},
                   {"pattern", {{"Regex", kQwen2Pattern}}},
                   {"behavior", "Isolated"},
                   {"invert", false}};
  const json byte_level{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  return {{"added_tokens",
           {{{"id", 258},
             {"content", "<|end|>"},
             {"single_word", false},
             {"lstrip", false},
             {"rstrip", false},
             {"normalized", false},
             {"special", true}}}},
          {"normalizer", {{"type", "NFC"}}},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocabulary},
            {"merges", json::array({json::array({"a", "b"}), json::array({"ab", "c"})})}}}};
}

Tokenizer parse(const json& file) {
  return Tokenizer::parse(file.dump(), "small.json");
}

}  // namespace odb
