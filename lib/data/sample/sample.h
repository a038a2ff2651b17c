// One training sample: token ids, and for each the label that the token before it is to predict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

struct Sample {
  std::vector<TokenId> tokens;
  // As long as `tokens`, not shifted: tokens[i]'s own id where it is supervised, kIgnoreIndex
  // elsewhere. The first one is always ignored: nothing comes before it that could predict it.
  std::vector<std::int32_t> labels;
  std::int64_t supervised = 0;  // labels that are not ignored
  bool truncated = false;       // cut at the cutoff length
};

enum class TrainOn : std::uint8_t {
  answers,      // every assistant turn
  last_answer,  // the last one
  all           // every token
};

// As --train-on spells it: "answers", "last-answer", "all".
std::string_view name(TrainOn train_on);

}  // namespace odb
