// Greedy generation, to see what a model has learned. The whole row is computed again for each
// token: simple, and fast enough for a check. Not a server.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace odb {

class LanguageModel;

struct GenerateOptions {
  std::int64_t max_new_tokens = 128;
  std::vector<std::int64_t> end_tokens;                   // generation ends after the first of them
  std::function<void(std::int64_t token)> on_token = {};  // called with each token as it comes
};

// The tokens after `prompt` (at least one token), the end token included. Of equal logits the
// lowest id is taken.
std::vector<std::int64_t> generate_greedily(LanguageModel& model,
                                            std::span<const std::int64_t> prompt,
                                            const GenerateOptions& options);

}  // namespace odb
