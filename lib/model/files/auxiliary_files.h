// The auxiliary files of a model folder. No weight depends on them, but a usable model needs them:
// tokenizer, chat template, generation settings.
#pragma once

#include <string>

#include "base/files.h"

namespace odb {

// Copies those that `from` has into the folder `to`, durably.
void copy_auxiliary_files(FileSystem& files, const std::string& from, const std::string& to);

}  // namespace odb
