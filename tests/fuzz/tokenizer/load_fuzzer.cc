// Any bytes as a tokenizer.json: refused with a DataError, or a tokenizer that works.
#include "base/error.h"
#include "base/log.h"
#include "tokenizer/encoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace odb;
  try {
    start_log({.levels = "error"});
    const Tokenizer tokenizer =
        Tokenizer::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    Encoder encoder(tokenizer, {.cache_bytes = 0});
    for (const TokenId id : encoder.encode("a B  12\n\u00E9\U0001F600 <|x|>")) {
      ODB_CHECK_LT(static_cast<std::size_t>(id), tokenizer.size());
    }
  } catch (const DataError&) {
    return 0;
  }
  return 0;
}
