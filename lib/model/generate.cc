#include "model/generate.h"

#include <algorithm>

#include "base/error.h"
#include "model/language_model.h"

namespace odb {

std::vector<std::int64_t> generate_greedily(LanguageModel& model,
                                            std::span<const std::int64_t> prompt,
                                            const GenerateOptions& options) {
  ODB_CHECK(!prompt.empty(), "generation needs a prompt of at least one token");
  const torch::NoGradGuard no_gradients;
  const torch::Device device = model.weights().at("embedding").device();
  std::vector<std::int64_t> row(prompt.begin(), prompt.end());
  const std::size_t start = row.size();
  for (std::int64_t i = 0; i < options.max_new_tokens; ++i) {
    const auto length = static_cast<std::int64_t>(row.size());
    const torch::Tensor states = model.hidden_states(torch::tensor(row, torch::kLong).to(device),
                                                     RowOffsets::padded(1, length));
    const auto token = model.logits(states.narrow(0, length - 1, 1)).argmax(1).item<std::int64_t>();
    row.push_back(token);
    if (options.on_token) options.on_token(token);
    if (std::ranges::find(options.end_tokens, token) != options.end_tokens.end()) break;
  }
  return {row.begin() + static_cast<std::ptrdiff_t>(start), row.end()};
}

}  // namespace odb
