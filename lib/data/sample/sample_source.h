// Everything that samples are made of, opened once: records, tokenizer, chat template. Immutable,
// so threads and forked processes share it; each makes samples with its own SampleBuilder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "data/data_options.h"
#include "data/records/record_set.h"
#include "data/sample/sample_builder.h"
#include "data/sample/token_bytes.h"
#include "data/templates/template_choice.h"
#include "tokenizer/tokenizer.h"

namespace odb {

// The tokenizer.json that --tokenizer names, a folder or the file itself. UsageError when it is
// empty, FileError that names the option when there is none.
std::string tokenizer_file(FileSystem& files, const std::string& tokenizer);
// What --tokenizer is when only --model is given: the model's folder. FileError when it has none.
std::string tokenizer_of_model(FileSystem& files, const std::string& model);

// The tokenizer and its settings; also used without records (tokenize --samples).
class Preprocessor {
 public:
  // Throws UsageError, DataError or FileError, so that errors are found before training. Also
  // refuses a template token that a content could contain or that strips white space around it.
  Preprocessor(FileSystem& files, const DataOptions& options);

  // Logs the template, its notice, and whether texts get no end token. All ranks would log the
  // same, so only one rank calls it.
  void log_choices() const;

  // A new maker for the calling thread. `cutoff_length` replaces the option's (0: never cut).
  std::unique_ptr<SampleBuilder> builder() const { return builder(options_.cutoff_len); }
  std::unique_ptr<SampleBuilder> builder(std::int64_t cutoff_length) const;

  const DataOptions& options() const { return options_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::string& template_name() const { return template_.name; }
  // False where --data-format excludes conversations.
  bool has_chat_template() const { return template_.has_text; }
  // In Jinja, for the model's folder; empty: the tokenizer's own text is the one that is used.
  const std::string& chat_template_text() const { return template_.jinja; }
  const ChatTemplate& chat_template() const { return *template_.chat_template; }
  // The token that ends a text, if the tokenizer names one.
  std::optional<TokenId> eos_token() const { return eos_token_; }

  // Changes whenever the same record could give another sample: tokenizer files, template, cutoff,
  // format, columns, supervised tokens.
  std::string key() const;

 private:
  DataOptions options_;
  RecordParserOptions records_;
  Tokenizer tokenizer_;
  TokenBytes token_bytes_;
  ChosenTemplate template_;
  std::optional<TokenId> eos_token_;
  SampleTokens sample_tokens_;
  std::string tokenizer_key_;
};

class SampleSource {
 public:
  // Opens all files of --data and their indexes. `build` reports the progress of long passes.
  SampleSource(FileSystem& files, const DataOptions& options, std::uint64_t seed,
               const IndexBuild& build = {});

  // Other data ("PATH" or "PATH:WEIGHT") that is made into samples in the same way as `other`.
  SampleSource(FileSystem& files, const SampleSource& other, const std::vector<std::string>& data,
               std::uint64_t seed, const IndexBuild& build = {});

  const Preprocessor& preprocessor() const { return *preprocessor_; }
  const RecordSet& records() const { return records_; }
  const CacheFolder& cache() const { return cache_; }

 private:
  CacheFolder cache_;
  std::shared_ptr<const Preprocessor> preprocessor_;
  RecordSet records_;
};

}  // namespace odb
