// Any bytes as text: refused when they are not UTF-8, else encoded into ids that decode to the text
// in form C, equal with a full, an empty and no cache, and equal to what the pattern as a regular
// expression gives.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/real_file_system.h"
#include "tokenizer/encoder.h"
#include "tokenizer/nfc.h"
#include "tokenizer/utf8.h"

namespace {

using namespace odb;

std::string read_file(bool with_scanner) {
  std::string json = RealFileSystem().read_all(std::string(ODB_TESTS_FOLDER) +
                                               "/cases/tokenizer/added_tokens/tokenizer.json");
  if (with_scanner) return json;
  // A group around the pattern has one effect: no scanner is known for it.
  const std::string key = "\"Regex\": \"";
  const std::size_t begin = json.find(key) + key.size();
  const std::size_t end = json.find("\"", begin);
  ODB_CHECK_LT(begin, end);
  return json.insert(end, ")").insert(begin, "(?:");
}

struct Subjects {
  Tokenizer scanned = Tokenizer::parse(read_file(true), "scanned");
  Tokenizer matched = Tokenizer::parse(read_file(false), "matched");
  Encoder warm{scanned};
  Encoder uncached{scanned, {.cache_bytes = 0}};
  Encoder by_pattern{matched};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Subjects subjects;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<TokenId> ids;
  try {
    subjects.warm.encode(text, ids);
  } catch (const DataError&) {
    ODB_CHECK(find_invalid_utf8(text).has_value(), "valid text was refused");
    return 0;
  }
  ODB_CHECK(subjects.uncached.encode(text) == ids, "the cache changes the ids");
  ODB_CHECK(subjects.by_pattern.encode(text) == ids, "the scanner and the pattern differ");
  // Only added tokens that strip white space do not decode to the text.
  if (text.find("<trim>") != std::string::npos) return 0;
  std::string scratch;
  const std::string back = subjects.scanned.decode(ids);
  std::string scratch_of_back;
  ODB_CHECK(normalize_nfc(back, scratch_of_back) == normalize_nfc(text, scratch),
            "the ids do not decode to the text");
  return 0;
}
