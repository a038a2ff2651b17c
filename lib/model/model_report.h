// The report of `inspect model` on a folder: the architecture, its size, its files, the memory that
// training takes, and what is missing or wrong.
#pragma once

#include <string>

#include "base/files.h"
#include "model/cost.h"
#include "model/files/config.h"
#include "model/files/stored_weights.h"

namespace odb {

struct ModelReport {
  std::string folder;
  ModelConfig config;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;  // of all tensors
  std::string types;        // "BF16", "BF16 and F32"
  WeightCheck check;        // a problem also says why the weights could not be opened at all
  std::int64_t tokens = 0;  // of a micro-batch
  MemoryEstimate memory;
};

// Throws FileError when config.json cannot be used; faults in the weights go into the report.
ModelReport inspect_model(FileSystem& files, const std::string& folder, const ModelOptions& options,
                          std::int64_t tokens);

// As text, with the first ten warnings and problems and the number of the others.
std::string report_text(const ModelReport& report);
// As one line of JSON, with all warnings and problems.
std::string report_json(const ModelReport& report);

}  // namespace odb
