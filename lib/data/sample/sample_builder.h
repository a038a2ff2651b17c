// Builds the sample of one record: bytes -> parsed record -> rendering -> ids and labels -> cut to
// length. Data workers run it for every view. One per thread or process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batching/item.h"
#include "data/conversation/record_parser.h"
#include "data/records/record_file.h"
#include "data/sample/labels.h"
#include "data/sample/sample.h"
#include "data/sample/text_encoder.h"
#include "data/templates/chat_template.h"

namespace odb {

struct SampleOptions {
  RecordParserOptions records;
  TrainOn train_on = TrainOn::answers;
  std::int64_t cutoff_length = 8192;  // tokens; 0: never cut
  bool skip_bad = false;              // --on-bad-sample skip
};

// What samples need of the tokenizer. Immutable, shared by all makers.
struct SampleTokens {
  std::vector<TokenId> bos_tokens;   // before text records, if the family does so
  std::vector<TokenId> eos_tokens;   // after text records
  std::int64_t vocabulary_size = 0;  // ids in the data must be below it
};

struct BuiltSample {
  LeftOutReason left_out = LeftOutReason::none;
  std::string problem;  // bad: "file:line: what is wrong"; of try_build: what is wrong
};

class SampleBuilder {
 public:
  // `chat_template` must outlive it.
  SampleBuilder(SampleOptions options, const ChatTemplate& chat_template,
                std::unique_ptr<TextEncoder> encoder, SampleTokens tokens);

  // Makes the sample of one row. `sample` is complete only if nothing was left out. A broken record
  // throws DataError naming file and line, or is left out with skip_bad. A changed file always
  // throws.
  BuiltSample build(const RecordFile& file, std::uint64_t row, Sample& sample);

  // The same, but a broken record is always left out, and its problem does not name the line:
  // finding the line costs as much as several records.
  BuiltSample try_build(const RecordFile& file, std::uint64_t row, Sample& sample);

  // The same for a record in memory. A broken record throws DataError without a place.
  LeftOutReason build(RecordBuffer& record, Sample& sample);

  // Format of the last record that was parsed.
  RecordFormat last_format() const { return last_format_; }
  // What it held that is not in its sample; valid until the next one.
  const RecordNotes& last_notes() const { return parser_.last().notes; }

 private:
  void take_tokens(const ParsedRecord& record, Sample& sample) const;
  LeftOutReason finish(bool has_answers, Sample& sample) const;

  SampleOptions options_;
  const ChatTemplate& chat_template_;
  SampleTokens tokens_;
  std::unique_ptr<TextEncoder> encoder_;
  RecordParser parser_;
  Labeller labeller_;
  RecordBuffer buffer_;
  Rendering rendering_;
  RecordFormat last_format_ = RecordFormat::messages;
};

}  // namespace odb
