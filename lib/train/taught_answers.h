// How the answers that a run trains end, and which chat template is around them.
#pragma once

#include "data/loader/loader.h"
#include "data/sample/sample_source.h"
#include "model/files/answer_files.h"

namespace odb {

// What the first samples of the run supervise: end tokens of the chat template and of texts that
// are among their labels. Empty where they hold none (texts without end token, or all are cut).
// `loader` is the loader of `source`. Bad rows do not count. Blocks for as long as a few dozen
// samples take.
AnswerFormat taught_answers(const SampleSource& source, const LoaderSetup& loader);

}  // namespace odb
