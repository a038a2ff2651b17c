// The way of one record: bytes -> parsed record -> rendering -> ids and labels -> cut to length.
// What a data worker runs for every view; one per thread or process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// What the making of samples needs of the tokenizer and never changes; shared by all makers.
struct SampleTokens {
  std::vector<TokenId> before_text;  // put before records that are texts, where the family does
  std::vector<TokenId> behind_text;  // put behind them
  std::int64_t vocabulary_size = 0;  // ids in the data must be below
};

struct MadeSample {
  WhyLeftOut left_out = WhyLeftOut::no;
  std::string problem;  // bad: "file:line: what is wrong"; of try_make: what is wrong
};

class SampleMaker {
 public:
  // `chat_template` must outlive it.
  SampleMaker(SampleOptions options, const ChatTemplate& chat_template,
              std::unique_ptr<TextEncoder> encoder, SampleTokens tokens);

  // Makes the sample of one row. `sample` is whole only when nothing was left out. A broken record
  // throws DataError naming file and line, or is left out with skip_bad; a file that changed throws
  // either way.
  MadeSample make(const RecordFile& file, std::uint64_t row, Sample& sample);

  // The same, but a broken record is always left out and its place is not told: finding the line
  // costs as much as several records.
  MadeSample try_make(const RecordFile& file, std::uint64_t row, Sample& sample);

  // The same from bytes at hand; a broken record throws DataError without a place.
  WhyLeftOut make(RecordBuffer& record, Sample& sample);

  // Format of the last record that was parsed.
  RecordFormat last_format() const { return last_format_; }

 private:
  void take_tokens(const ParsedRecord& record, Sample& sample) const;
  WhyLeftOut finish(bool has_answers, Sample& sample) const;

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
