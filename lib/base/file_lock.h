// Locks on open files (flock): the system frees one once all descriptors of its holder, and of the
// processes that it forked meanwhile, are closed. They hold between processes of one machine, on
// many network file systems also between machines.
#pragma once

#include "base/descriptor.h"

namespace odb {

enum class LockMode { exclusive, shared };

enum class LockResult {
  taken,
  held_elsewhere,  // in a mode that excludes this one
  unsupported      // the file system has no locks; errno says why
};

// Never waits for a holder.
LockResult try_lock(const Descriptor& file, LockMode mode);

}  // namespace odb
