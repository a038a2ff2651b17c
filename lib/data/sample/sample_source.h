// All that samples are made of, opened once: records, tokenizer, chat template. Never changes, so
// that threads and forked processes share it; each makes samples with a SampleMaker of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "data/data_options.h"
#include "data/records/record_set.h"
#include "data/sample/sample_maker.h"
#include "data/sample/token_bytes.h"
#include "data/templates/template_choice.h"
#include "data/tokenizer/tokenizer.h"

namespace odb {

// The tokenizer with all that goes with it; of use without records (tokenize --samples).
class SampleMaking {
 public:
  // Throws UsageError, DataError or FileError: what cannot work is found here, before training,
  // also a token of the template that could stand in a content or takes white space around it.
  SampleMaking(FileSystem& files, const DataOptions& options);

  // Says in the log which template is used, with its notice, and when texts get no end. Of several
  // ranks, which all have the same to say, one does.
  void tell_choices() const;

  // A maker of its own for the calling thread. `cutoff_length`: other than the options' (0: never
  // cut).
  std::unique_ptr<SampleMaker> maker() const { return maker(options_.cutoff_len); }
  std::unique_ptr<SampleMaker> maker(std::int64_t cutoff_length) const;

  const DataOptions& options() const { return options_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::string& template_name() const { return template_.name; }
  const ChatTemplate& chat_template() const { return *template_.chat_template; }
  // The token that ends a text, where the tokenizer names one.
  std::optional<TokenId> end_of_text() const { return end_of_text_; }

  // Changes whenever the same record could become another sample: tokenizer files, template,
  // cutoff, format, columns, what is trained.
  std::string key() const;

 private:
  DataOptions options_;
  RecordParserOptions records_;
  Tokenizer tokenizer_;
  TokenBytes token_bytes_;
  ChosenTemplate template_;
  std::optional<TokenId> end_of_text_;
  SampleTokens sample_tokens_;
  std::string tokenizer_key_;
};

class SampleSource {
 public:
  // Opens all files of --data and their indexes. `progress` is told of long passes.
  SampleSource(FileSystem& files, const DataOptions& options, std::uint64_t seed,
               const IndexBuild& build = {});

  // Other data ("PATH" or "PATH:WEIGHT") made into samples in the same way, by the same tokenizer.
  SampleSource(FileSystem& files, const SampleSource& other, const std::vector<std::string>& data,
               std::uint64_t seed, const IndexBuild& build = {});

  const SampleMaking& making() const { return *making_; }
  const RecordSet& records() const { return records_; }
  const CacheFolder& cache() const { return cache_; }

 private:
  CacheFolder cache_;
  std::shared_ptr<const SampleMaking> making_;
  RecordSet records_;
};

}  // namespace odb
