// Measures forward and backward passes of a model over given batches, for comparisons.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/layers/rows.h"

namespace odb {

class LanguageModel;

// Rows of ids and labels (-100: not supervised), as transformers takes them.
struct MeasuredBatch {
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<std::vector<std::int64_t>> labels;
};

// {"batches": [{"tokens": [[...]], "labels": [[...]]}]}; throws FileError beginning with `where`.
std::vector<MeasuredBatch> parse_measured_batches(std::string_view json, const std::string& where);

struct Measurement {
  double loss = 0;               // of all batches: sum over supervised tokens / their number
  std::int64_t real_tokens = 0;  // without padding
  std::int64_t computed_tokens = 0;
  std::vector<double> seconds;  // of each round over all batches
};

// Runs all batches once untimed, then `rounds` times; gradients add up within a round and are
// dropped between rounds. `pad`: rows are padded to the longest of their batch.
Measurement measure_model(LanguageModel& model, const std::vector<MeasuredBatch>& batches, bool pad,
                          std::int64_t rounds);

}  // namespace odb
