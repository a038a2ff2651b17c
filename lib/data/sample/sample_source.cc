#include "data/sample/sample_source.h"

#include <fmt/ranges.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "data/sample/tokenizer_text.h"

namespace odb {
namespace {

std::string folder_of(FileSystem& files, const std::string& tokenizer) {
  return files.is_folder(tokenizer) ? tokenizer : parent_folder(tokenizer);
}

std::string file_of(FileSystem& files, const std::string& tokenizer) {
  if (tokenizer.empty())
    throw UsageError("--tokenizer is missing; wanted a folder with tokenizer.json");
  return files.is_folder(tokenizer) ? join_path(tokenizer, "tokenizer.json") : tokenizer;
}

// One id, when the tokenizer puts exactly one there around texts.
std::optional<TokenId> single(const std::vector<TokenId>& frame) {
  return frame.size() == 1 ? std::optional(frame.front()) : std::nullopt;
}

std::vector<DataSource> parse_sources(FileSystem& files, const std::vector<std::string>& words) {
  std::vector<DataSource> sources;
  for (const std::string& word : words)
    sources.push_back(parse_data_source(files, word));
  return sources;
}

}  // namespace

SampleMaking::SampleMaking(FileSystem& files, const DataOptions& options)
    : options_(options),
      records_{.format = parse_format(options.data_format), .columns = ColumnNames(options.column)},
      tokenizer_(Tokenizer::load(file_of(files, options.tokenizer))),
      token_bytes_(tokenizer_) {
  const TokenizerConfig config = read_tokenizer_config(files, folder_of(files, options.tokenizer));
  const auto find = [this](std::string_view text) { return tokenizer_.find(text); };
  template_ = choose_template(options.chat_template, config, find);
  if (template_.notice.empty())
    log("data").info("chat template: {}", template_.name);
  else
    log("data").warn("{}", template_.notice);
  sample_tokens_ = {
      .begin_of_text = single(tokenizer_.frame().prefix),
      .end_of_text = config.end_of_text.empty() ? std::nullopt : find(config.end_of_text),
      .vocabulary_size = static_cast<std::int64_t>(tokenizer_.size())};
  tokenizer_key_ = to_hex(file_checksum128(files, file_of(files, options.tokenizer)));
}

std::unique_ptr<SampleMaker> SampleMaking::maker(std::int64_t cutoff_length) const {
  return std::make_unique<SampleMaker>(
      SampleOptions{.records = records_,
                    .train_on = options_.train_on,
                    .cutoff_length = cutoff_length,
                    .skip_bad = options_.on_bad_sample == OnBadSample::skip},
      *template_.chat_template,
      std::make_unique<TokenizerText>(
          tokenizer_, token_bytes_,
          EncoderOptions{.parse_special_in_text = options_.parse_special_in_text}),
      sample_tokens_);
}

std::string SampleMaking::key() const {
  return to_hex(checksum128(fmt::format(
      "samples 1|{}|{}|{}|{}|{}|{}|{}|{}|{}", tokenizer_key_, template_.name,
      sample_tokens_.begin_of_text.value_or(-1), sample_tokens_.end_of_text.value_or(-1),
      train_on_name(options_.train_on), options_.cutoff_len, options_.parse_special_in_text,
      options_.data_format, fmt::join(options_.column, "|"))));
}

SampleSource::SampleSource(FileSystem& files, const DataOptions& options, std::uint64_t seed,
                           const IndexBuild& build)
    : cache_(files, options.cache_dir),
      making_(files, options),
      records_(parse_sources(files, options.data), seed, cache_, build) {}

}  // namespace odb
