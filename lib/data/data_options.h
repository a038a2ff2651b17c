// The options of group "data": what the samples are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options/table.h"
#include "data/sample/sample.h"

namespace odb {

enum class OnBadSample { fail, skip };

struct DataOptions {
  std::vector<std::string> data;  // "PATH" or "PATH:WEIGHT"
  std::string data_format = "auto";
  std::vector<std::string> column;  // "STANDARD=NAME"
  std::string tokenizer;            // a folder, or a tokenizer.json
  std::string chat_template = "auto";
  std::int64_t cutoff_len = 8192;  // tokens
  TrainOn train_on = TrainOn::answers;
  OnBadSample on_bad_sample = OnBadSample::fail;
  bool parse_special_in_text = false;
  std::string cache_dir;  // empty: next to the data
};

// All options of the group.
void describe(OptionTable& table, DataOptions& options);

// The options that define how a record becomes a sample: without data, on-bad-sample and cache-dir.
void describe_preprocessing(OptionTable& table, DataOptions& options);

}  // namespace odb
