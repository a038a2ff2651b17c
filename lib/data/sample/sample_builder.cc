#include "data/sample/sample_builder.h"

#include <algorithm>

#include "base/error.h"
#include "base/ignore_index.h"
#include "data/templates/plain.h"

namespace odb {

SampleBuilder::SampleBuilder(SampleOptions options, const ChatTemplate& chat_template,
                             std::unique_ptr<TextEncoder> encoder, SampleTokens tokens)
    : options_(std::move(options)),
      chat_template_(chat_template),
      tokens_(std::move(tokens)),
      encoder_(std::move(encoder)),
      parser_(options_.records),
      labeller_(*encoder_, options_.train_on) {}

BuiltSample SampleBuilder::build(const RecordFile& file, std::uint64_t row, Sample& sample) {
  BuiltSample made = try_build(file, row, sample);
  if (made.left_out != LeftOutReason::bad_record) return made;
  made.problem = fmt::format("{}: {}", file.where(row), made.problem);
  if (!options_.skip_bad)
    throw DataError("{} (--on-bad-sample skip leaves such rows out)", made.problem);
  return made;
}

BuiltSample SampleBuilder::try_build(const RecordFile& file, std::uint64_t row, Sample& sample) {
  file.read(row, buffer_);
  try {
    return {.left_out = build(buffer_, sample)};
  } catch (const DataError& error) {
    return {.left_out = LeftOutReason::bad_record, .problem = error.what()};
  }
}

LeftOutReason SampleBuilder::build(RecordBuffer& record, Sample& sample) {
  const ParsedRecord& parsed = parser_.parse(record);
  last_format_ = parsed.format;
  if (parsed.kind == RecordKind::tokens) {
    take_tokens(parsed, sample);
    return sample.tokens.empty() ? LeftOutReason::empty : finish(sample.supervised > 0, sample);
  }
  rendering_.clear();
  if (parsed.kind == RecordKind::conversation) {
    if (parsed.conversation.messages.empty()) return LeftOutReason::empty;
    chat_template_.render(parsed.conversation, rendering_);
  } else {
    if (parsed.prompt.empty() && parsed.completion.empty()) return LeftOutReason::empty;
    for (const TokenId token : tokens_.bos_tokens)
      rendering_.add_control(token);
    render_text(parsed.prompt, parsed.completion, tokens_.eos_tokens, rendering_);
  }
  // One token more than allowed shows that the sample must be cut.
  labeller_.label(rendering_, options_.cutoff_length > 0 ? options_.cutoff_length + 1 : 0, sample);
  return finish(labeller_.trains_any_of(rendering_), sample);
}

void SampleBuilder::take_tokens(const ParsedRecord& record, Sample& sample) const {
  const auto check = [&](const std::vector<std::int32_t>& ids, std::string_view column,
                         bool may_be_ignored) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if ((ids[i] < 0 || ids[i] >= tokens_.vocabulary_size) &&
          !(may_be_ignored && ids[i] == kIgnoreIndex))
        throw DataError("{}[{}]: found {}; expected a token id from 0 to {}{}", column, i, ids[i],
                        tokens_.vocabulary_size - 1,
                        may_be_ignored ? fmt::format(" or {}", kIgnoreIndex) : "");
  };
  check(record.tokens, "input_ids", false);
  check(record.labels, "labels", true);
  sample.tokens = record.tokens;
  sample.labels = record.labels;
  if (!sample.labels.empty()) sample.labels.front() = kIgnoreIndex;
  sample.supervised = std::count_if(sample.labels.begin(), sample.labels.end(),
                                    [](std::int32_t label) { return label != kIgnoreIndex; });
}

// Cuts the sample and decides whether it is left out. `has_answers`: the record has tokens to
// supervise.
LeftOutReason SampleBuilder::finish(bool has_answers, Sample& sample) const {
  const auto length = static_cast<std::size_t>(options_.cutoff_length);
  sample.truncated = length > 0 && sample.tokens.size() > length;
  if (sample.truncated) {
    sample.supervised -= std::count_if(sample.labels.begin() + static_cast<std::ptrdiff_t>(length),
                                       sample.labels.end(),
                                       [](std::int32_t label) { return label != kIgnoreIndex; });
    sample.tokens.resize(length);
    sample.labels.resize(length);
  }
  if (sample.supervised > 0) return LeftOutReason::none;
  return sample.truncated && has_answers ? LeftOutReason::cut_away
                                         : LeftOutReason::no_supervised_token;
}

}  // namespace odb
