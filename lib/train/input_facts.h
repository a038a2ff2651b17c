// A short summary of what a rank reads, to be compared between ranks: paths may differ between
// machines, but views, samples and the model must be the same.
#pragma once

#include <string>

#include "train/training_inputs.h"

namespace odb {

// A JSON object: rows, content and weight of each file of --data and --eval-data, the tokenizer and
// everything else that shapes samples, and a checksum of the model's config.json. Equal inputs give
// equal texts. Reads no file again.
std::string input_facts(const TrainingInputs& inputs);

}  // namespace odb
