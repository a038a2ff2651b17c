// Runs one record of any bytes through the parser, every template and every way of labeling, for
// the fuzz test and the fuzz target. Only a DataError may come out of it.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/ignore_index.h"
#include "sample/test_tokenizer.h"

namespace odb {

// Whether at least one template could make a sample of the record. Throws InternalError if a sample
// breaks its own rules.
inline bool survive_record(std::string_view bytes) {
  TestTokenizer& test = test_tokenizer();
  bool any = false;
  for (const std::string& name : chat_template_names()) {
    const auto chat_template = test.chat_template(name);
    for (const std::int64_t cutoff : {0, 7}) {
      SampleBuilder builder({.cutoff_length = cutoff}, *chat_template, test.new_encoder(),
                            test.sample_tokens());
      RecordBuffer buffer;
      std::copy(bytes.begin(), bytes.end(), buffer.resize(bytes.size()).begin());
      Sample sample;
      try {
        if (builder.build(buffer, sample) != LeftOutReason::none) continue;
      } catch (const DataError&) {
        continue;
      }
      any = true;
      ODB_CHECK_EQ(sample.tokens.size(), sample.labels.size());
      ODB_CHECK_GT(sample.supervised, 0);
      ODB_CHECK_EQ(sample.labels.front(), kIgnoreIndex);
      if (cutoff > 0) ODB_CHECK_LE(sample.tokens.size(), static_cast<std::size_t>(cutoff));
    }
  }
  return any;
}

}  // namespace odb
