// Whether samples are longer than the model's positions (max_position_embeddings of config.json).
#pragma once

#include <cstdint>
#include <string>

#include "data/sample/sample_source.h"

namespace odb {

// Why a run over `source` would train positions beyond `max_length`, which the model was not made
// for; empty: no such sample was found. Looks at the row of each file that has the most bytes,
// after --cutoff-len; reads nothing where no row can be that long. Blocks on disk I/O. DataError: a
// changed or damaged file.
std::string why_too_long(const SampleSource& source, std::int64_t max_length);

}  // namespace odb
