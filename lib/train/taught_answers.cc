#include "train/taught_answers.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "data/sample/prompt.h"
#include "train/session/stop_check.h"

namespace odb {
namespace {

// Enough to meet both texts and conversations where a run mixes them.
constexpr std::int64_t kSamples = 32;
constexpr std::int64_t kViews = 8 * kSamples;  // some may be left out

void add_new(TokenId token, std::vector<TokenId>& tokens) {
  if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
}

// A bad row is reported by the run itself, if it meets it.
bool is_built(ViewBuilder& builder, std::int64_t view, Sample& sample) {
  try {
    return builder.build(view, 0, sample).left_out == LeftOutReason::none;
  } catch (const DataError&) {
    return false;
  }
}

// The tokens of `candidates` that the first samples supervise, in the order of the candidates.
std::vector<TokenId> supervised_ones(const std::vector<TokenId>& candidates,
                                     const LoaderSetup& loader) {
  const auto builder = loader.builder();
  std::vector<bool> found(candidates.size(), false);
  Sample sample;
  std::int64_t samples = 0;
  for (std::int64_t view = 0; view < std::min(kViews, loader.shape.data_size) && samples < kSamples;
       ++view) {
    throw_if_stop_requested();
    if (!is_built(*builder, view, sample)) continue;
    ++samples;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (!found[i])
        found[i] = std::ranges::find(sample.labels, candidates[i]) != sample.labels.end();
  }
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (found[i]) tokens.push_back(candidates[i]);
  return tokens;
}

}  // namespace

AnswerFormat taught_answers(const SampleSource& source, const LoaderSetup& loader) {
  const Preprocessor& preprocessor = source.preprocessor();
  const std::vector<TokenId> of_template = template_ends(preprocessor);
  std::vector<TokenId> candidates = of_template;
  if (preprocessor.eos_token()) add_new(*preprocessor.eos_token(), candidates);
  for (const TokenId token : preprocessor.tokenizer().frame().suffix)
    add_new(token, candidates);
  AnswerFormat format;
  for (const TokenId token : supervised_ones(candidates, loader))
    format.end_tokens.push_back(token);
  const bool conversations =
      !format.end_tokens.empty() &&
      std::ranges::find(of_template, static_cast<TokenId>(format.end_tokens.front())) !=
          of_template.end();
  if (!conversations) return format;
  format.eos_token =
      preprocessor.tokenizer().spelling(static_cast<TokenId>(format.end_tokens.front()));
  format.chat_template = preprocessor.chat_template_text();
  return format;
}

}  // namespace odb
