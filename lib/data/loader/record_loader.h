// A loader over data files: from options and an opened SampleSource to a LoaderSetup.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/progress_callback.h"
#include "batching/options.h"
#include "batching/rounds.h"
#include "data/loader/loader.h"
#include "data/loader/loader_options.h"
#include "data/sample/sample_source.h"

namespace odb {

// The longest sample that the options permit: --cutoff-len, or without it as many tokens as the
// longest record has bytes (a token has at least one) plus room for the chat template.
std::int64_t longest_sample(const SampleSource& source);

// Strategies that plan with lengths run the length pass here, if it is not cached; all its threads
// have ended on return. `source` must outlive the loader. `membership` may be set on the result.
// `progress` is called during the length pass, in rows of a file; if it throws, the pass ends.
LoaderSetup record_loader(const SampleSource& source, const BatchingOptions& resolved,
                          const LoaderOptions& options, int rank, int world,
                          const ProgressCallback& progress = {});

}  // namespace odb
