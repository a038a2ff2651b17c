// How fast a tokenizer encodes given texts on one core, with an empty and with a filled word cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tokenizer/tokenizer.h"

namespace odb {

struct TokenizerThroughput {
  std::size_t texts = 0;
  std::size_t bytes = 0;    // of all texts
  std::size_t tokens = 0;   // of their encodings
  double cold_seconds = 0;  // all texts once with a new Encoder, its construction included; median
  double warm_seconds = 0;  // all texts once more; median
};

// Encodes each text separately, `rounds` (odd) times cold and warm in turn. Blocks until done.
// Throws DataError for a text that cannot be encoded.
TokenizerThroughput measure_throughput(const Tokenizer& tokenizer,
                                       std::span<const std::string> texts, int rounds);

}  // namespace odb
