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

// Whether the records may be texts; a format that is not named may be any.
bool may_be_texts(const RecordParserOptions& records) {
  return !records.format || *records.format == RecordFormat::text ||
         *records.format == RecordFormat::prompt_completion;
}

bool may_be_conversations(const RecordParserOptions& records) {
  return records.format != RecordFormat::text && records.format != RecordFormat::tokens;
}

// Checks a token that is put around contents: no content may contain it. None of its flags may
// change the text next to it, because it is inserted by its id.
void check_control(const Tokenizer& tokenizer, TokenId id, const DataOptions& options) {
  const AddedToken* const token = tokenizer.added_token(id);
  const auto refuse = [&](std::string_view found, std::string_view expected) {
    throw DataError(
        "{}: the token '{}' is put around contents, but {}; expected {} in tokenizer.json",
        options.tokenizer, tokenizer.spelling(id), found, expected);
  };
  if (token == nullptr) return refuse("is not an added token", "it in the added_tokens");
  if (!token->special && !options.parse_special_in_text)
    refuse("is not special, so a content could contain it", "\"special\": true");
  if (token->lstrip || token->rstrip || token->single_word)
    refuse("its flags lstrip, rstrip or single_word depend on the text next to it",
           "these flags to be false");
}

std::vector<DataSource> parse_sources(FileSystem& files, const std::vector<std::string>& words) {
  std::vector<DataSource> sources;
  sources.reserve(words.size());
  for (const std::string& word : words)
    sources.push_back(parse_data_source(files, word));
  return sources;
}

}  // namespace

std::string tokenizer_file(FileSystem& files, const std::string& tokenizer) {
  if (tokenizer.empty())
    throw UsageError("--tokenizer is missing; expected a folder with tokenizer.json");
  if (!files.exists(tokenizer))
    throw FileError(
        "--tokenizer {}: no such file or folder; expected a folder with tokenizer.json (nothing is "
        "downloaded)",
        tokenizer);
  if (!files.is_folder(tokenizer)) return tokenizer;
  std::string path = join_path(tokenizer, "tokenizer.json");
  if (!files.exists(path))
    throw FileError("--tokenizer {}: found no tokenizer.json there; expected a folder with one",
                    tokenizer);
  return path;
}

std::string tokenizer_of_model(FileSystem& files, const std::string& model) {
  if (!files.exists(join_path(model, "tokenizer.json")))
    throw FileError(
        "--model {}: found no tokenizer.json there; give --tokenizer, a folder with one", model);
  return model;
}

Preprocessor::Preprocessor(FileSystem& files, const DataOptions& options)
    : options_(options),
      records_{.format = parse_format(options.data_format), .columns = ColumnNames(options.column)},
      tokenizer_(Tokenizer::load(tokenizer_file(files, options.tokenizer))),
      token_bytes_(tokenizer_) {
  const TokenizerConfig config = read_tokenizer_config(files, folder_of(files, options.tokenizer));
  const auto find = [&](std::string_view text) {
    const std::optional<TokenId> id = tokenizer_.find(text);
    if (id) check_control(tokenizer_, *id, options_);
    return id;
  };
  template_ = may_be_conversations(records_) ? choose_template(options.chat_template, config, find)
                                             : no_template();
  if (!config.eos_token.empty()) {
    eos_token_ = find(config.eos_token);
    if (!eos_token_)
      throw DataError(
          "{}: tokenizer_config.json names the eos_token '{}', which the tokenizer lacks",
          config.folder, config.eos_token);
  }
  const SequenceFrame& frame = tokenizer_.frame();
  sample_tokens_ = {.bos_tokens = frame.prefix,
                    .eos_tokens = frame.suffix,
                    .vocabulary_size = static_cast<std::int64_t>(tokenizer_.size())};
  std::vector<TokenId>& end_tokens = sample_tokens_.eos_tokens;
  if (eos_token_ && (end_tokens.empty() || end_tokens.back() != *eos_token_))
    end_tokens.push_back(*eos_token_);
  tokenizer_key_ = to_hex(file_checksum128(files, tokenizer_file(files, options.tokenizer)));
}

void Preprocessor::log_choices() const {
  if (template_.notice.empty())
    log("data").info("chat template: {}", template_.name);
  else
    log("data").warn("{}", template_.notice);
  if (sample_tokens_.eos_tokens.empty() && may_be_texts(records_))
    log("data").warn(
        "{} names no eos_token in a tokenizer_config.json: text records get no end token",
        options_.tokenizer);
}

std::unique_ptr<SampleBuilder> Preprocessor::builder(std::int64_t cutoff_length) const {
  return std::make_unique<SampleBuilder>(
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

std::string Preprocessor::key() const {
  return to_hex(checksum128(fmt::format(
      "samples 2|{}|{}|{}|{}|{}|{}|{}|{}|{}", tokenizer_key_, template_.name,
      fmt::join(sample_tokens_.bos_tokens, " "), fmt::join(sample_tokens_.eos_tokens, " "),
      name(options_.train_on), options_.cutoff_len, options_.parse_special_in_text,
      options_.data_format, fmt::join(options_.column, "|"))));
}

SampleSource::SampleSource(FileSystem& files, const DataOptions& options, std::uint64_t seed,
                           const IndexBuild& build)
    : cache_(files, options.cache_dir),
      preprocessor_(std::make_shared<const Preprocessor>(files, options)),
      records_(parse_sources(files, options.data), seed, cache_, build) {}

SampleSource::SampleSource(FileSystem& files, const SampleSource& other,
                           const std::vector<std::string>& data, std::uint64_t seed,
                           const IndexBuild& build)
    : cache_(files, other.preprocessor().options().cache_dir),
      preprocessor_(other.preprocessor_),
      records_(parse_sources(files, data), seed, cache_, build) {}

}  // namespace odb
