// The files of a model folder that no weight depends on, but without which it cannot be used:
// tokenizer, chat template, generation settings.
#pragma once

#include <string>

#include "base/files.h"

namespace odb {

// Copies those that `from` has into the folder `to`, durably.
void copy_companions(FileSystem& files, const std::string& from, const std::string& to);

}  // namespace odb
