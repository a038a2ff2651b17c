// What a rank reads, in a few words that ranks can compare: files may lie elsewhere on each
// machine, but views, samples and the model must be the same ones.
#pragma once

#include <string>

#include "train/training_inputs.h"

namespace odb {

// A JSON object: of each file of --data and --eval-data its rows, content and weight, of the
// tokenizer with all that makes samples, and of the model's config.json a checksum. Equal inputs
// give equal texts.
// Reads no file again.
std::string input_facts(const TrainingInputs& inputs);

}  // namespace odb
