#include "tokenizer/tokenizer_file.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/file_components.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

namespace dom = simdjson::dom;

// The fields of a JSON object by name; a name given twice is refused.
using Fields = std::map<std::string_view, dom::element>;

Fields fields_of(dom::element element, std::initializer_list<std::string_view> known,
                 const std::string& where) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) throw DataError("{}: expected an object", where);
  Fields fields;
  for (const auto field : object) {
    if (std::find(known.begin(), known.end(), field.key) == known.end()) {
      throw DataError("{}: unknown component '{}'", where, field.key);
    }
    if (!fields.emplace(field.key, field.value).second) {
      throw DataError("{}: '{}' is given twice", where, field.key);
    }
  }
  return fields;
}

// A small component as the general JSON type; null when the file lacks it.
nlohmann::json component(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return nullptr;
  return nlohmann::json::parse(simdjson::minify(found->second));
}

bool is_set(const Fields& fields, std::string_view name) {
  const nlohmann::json value = component(fields, name);
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !(value.is_null() || value == false || value == 0.0);
}

// Absent or null is false, as in the reference.
bool flag(const Fields& fields, std::string_view name, const std::string& where) {
  const nlohmann::json value = component(fields, name);
  if (value.is_null()) return false;
  if (!value.is_boolean()) {
    throw DataError("{}: '{}' is {}, expected true or false", where, name, value.dump());
  }
  return value.get<bool>();
}

void check_model_kind(const Fields& model, const std::string& where) {
  // Old files have no type; only BPE has merges.
  const nlohmann::json type = component(model, "type");
  if (!type.is_null() && type != "BPE") {
    throw DataError("{}: unknown model type {}; only BPE is supported", where, type.dump());
  }
  for (const std::string_view option :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    if (is_set(model, option)) {
      throw DataError("{}: '{}' is set, which byte-level BPE does not use", where, option);
    }
  }
}

void read_vocabulary(dom::element element, Vocabulary& vocabulary, const std::string& where) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) throw DataError("{}: expected an object", where);
  for (const auto field : object) {
    std::uint64_t id = 0;
    if (field.value.get(id) != simdjson::SUCCESS || id >= MergeTable::kMaxTokens) {
      throw DataError("{}: the id of '{}' is {}, expected a number from 0 to {}", where, field.key,
                      simdjson::minify(field.value), MergeTable::kMaxTokens - 1);
    }
    if (!vocabulary.add(field.key, static_cast<TokenId>(id))) {
      throw DataError("{}: the token '{}' is given twice", where, field.key);
    }
  }
}

using TokenPair = std::pair<std::string_view, std::string_view>;

// "a b" or ["a", "b"]; nullopt when it is neither.
std::optional<TokenPair> read_pair(dom::element element) {
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos || text.find(' ', blank + 1) != std::string_view::npos) {
      return std::nullopt;
    }
    return TokenPair{text.substr(0, blank), text.substr(blank + 1)};
  }
  dom::array parts;
  if (element.get(parts) != simdjson::SUCCESS) return std::nullopt;
  std::array<std::string_view, 2> pair;
  std::size_t count = 0;
  for (const dom::element part : parts) {
    if (count == 2 || part.get(pair[count]) != simdjson::SUCCESS) return std::nullopt;
    ++count;
  }
  if (count != 2) return std::nullopt;
  return TokenPair{pair[0], pair[1]};
}

std::vector<Merge> read_merges(dom::element element, const Vocabulary& vocabulary,
                               const std::string& where) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) throw DataError("{}: expected a list", where);
  std::vector<Merge> merges;
  std::string joined;
  for (const dom::element item : array) {
    const auto refuse = [&](const std::string& why) {
      throw DataError("{}[{}]: the merge {} {}", where, merges.size(), simdjson::minify(item), why);
    };
    const std::optional<TokenPair> pair = read_pair(item);
    if (!pair) {
      refuse("does not have two parts; expected \"left right\" or [\"left\", \"right\"]");
      continue;
    }
    const auto token = [&](std::string_view spelling) {
      const std::optional<TokenId> id = vocabulary.find(spelling);
      if (!id)
        refuse(fmt::format("needs the token '{}', which is not in the vocabulary", spelling));
      return *id;
    };
    joined.assign(pair->first).append(pair->second);
    merges.push_back({token(pair->first), token(pair->second), token(joined)});
    if (merges.size() > MergeTable::kMaxMerges) {
      throw DataError("{}: more than {} merges", where, MergeTable::kMaxMerges);
    }
  }
  return merges;
}

std::array<TokenId, 256> find_byte_tokens(const Vocabulary& vocabulary, const std::string& where) {
  std::array<TokenId, 256> tokens{};
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    std::string spelling;
    append_utf8(letter_of_byte(static_cast<std::uint8_t>(byte)), spelling);
    const std::optional<TokenId> id = vocabulary.find(spelling);
    if (!id) {
      throw DataError(
          "{}: no token '{}' for the byte {}; a byte-level vocabulary has all 256 of them", where,
          spelling, byte);
    }
    tokens[byte] = *id;
  }
  return tokens;
}

MergeTable make_merge_table(dom::element element, const Vocabulary& vocabulary,
                            const std::array<TokenId, 256>& byte_tokens, const std::string& where) {
  const std::vector<Merge> merges = read_merges(element, vocabulary, where);
  MergeTable table(merges, byte_tokens);
  for (std::size_t index = 0; index < merges.size(); ++index) {
    const MergeRank first = table.rank(merges[index].left, merges[index].right);
    if (first != index) {
      throw DataError("{}[{}]: the merge of '{}' and '{}' stands at {} already", where, index,
                      vocabulary.spelling(merges[index].left),
                      vocabulary.spelling(merges[index].right), first);
    }
  }
  return table;
}

[[noreturn]] void refuse_json(std::string_view json, simdjson::error_code error,
                              const std::string& where) {
  try {
    const auto parsed = nlohmann::json::parse(json);  // knows the line and the column
    throw DataError("{}: a JSON file of {} entries that cannot be read: {}", where, parsed.size(),
                    simdjson::error_message(error));
  } catch (const nlohmann::json::exception& exception) {
    throw DataError("{}: not a JSON file: {}", where, exception.what());
  }
}

const dom::element& required_element(const Fields& fields, std::string_view name,
                                     const std::string& where) {
  const auto found = fields.find(name);
  if (found == fields.end()) throw DataError("{}: '{}' is missing", where, name);
  return found->second;
}

}  // namespace

TokenizerParts parse_tokenizer_file(std::string_view json, const std::string& where) {
  if (json.starts_with(kByteOrderMark)) {
    throw DataError("{}: begins with a byte order mark, which JSON files do not have; remove it",
                    where);
  }
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    refuse_json(json, error, where);
  }
  const Fields file = fields_of(root,
                                {"version", "truncation", "padding", "added_tokens", "normalizer",
                                 "pre_tokenizer", "post_processor", "decoder", "model"},
                                where);
  if (const nlohmann::json version = component(file, "version");
      !version.is_null() && version != "1.0") {
    throw DataError("{}: unknown version {}; expected \"1.0\"", where, version.dump());
  }
  for (const std::string_view ignored : {"truncation", "padding"}) {
    if (!component(file, ignored).is_null()) {
      log("data").warn("{}: '{}' is ignored; the trainer sets lengths itself", where, ignored);
    }
  }
  const std::string model_place = where + ": model";
  const Fields model =
      fields_of(required_element(file, "model", where),
                {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                 "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"},
                model_place);
  check_model_kind(model, model_place);
  PreTokenizer pre_tokenizer =
      PreTokenizer::parse(component(file, "pre_tokenizer"), where + ": pre_tokenizer");
  check_decoder(component(file, "decoder"), where + ": decoder");

  Vocabulary vocabulary;
  read_vocabulary(required_element(model, "vocab", model_place), vocabulary,
                  model_place + ".vocab");
  std::vector<AddedToken> added =
      parse_added_tokens(component(file, "added_tokens"), vocabulary, where + ": added_tokens");
  vocabulary.seal(where);
  const auto byte_tokens = find_byte_tokens(vocabulary, model_place + ".vocab");
  MergeTable merges = make_merge_table(required_element(model, "merges", model_place), vocabulary,
                                       byte_tokens, model_place + ".merges");
  if (merges.size() == 0 && vocabulary.size() > byte_tokens.size() + added.size()) {
    throw DataError(
        "{}.merges: empty, though the vocabulary has {} tokens; without merges most of "
        "them are never made",
        model_place, vocabulary.size());
  }
  SequenceFrame frame = parse_post_processor(component(file, "post_processor"), vocabulary,
                                             where + ": post_processor");
  return {.vocabulary = std::move(vocabulary),
          .merges = std::move(merges),
          .ignore_merges = flag(model, "ignore_merges", model_place),
          .normalize_nfc = parse_normalizer(component(file, "normalizer"), where + ": normalizer"),
          .pre_tokenizer = std::move(pre_tokenizer),
          .added_tokens = std::move(added),
          .frame = std::move(frame)};
}

TokenizerParts read_tokenizer_file(const std::filesystem::path& path) {
  const std::filesystem::path file =
      std::filesystem::is_directory(path) ? path / "tokenizer.json" : path;
  return parse_tokenizer_file(RealFileSystem().read_all(file.string()), file.string());
}

}  // namespace odb
