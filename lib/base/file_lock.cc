#include "base/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace odb {

LockResult try_lock(const Descriptor& file, LockMode mode) {
  const int operation = (mode == LockMode::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  int result = 0;
  do
    result = ::flock(file.get(), operation);
  while (result != 0 && errno == EINTR);
  if (result == 0) return LockResult::taken;
  return errno == EWOULDBLOCK ? LockResult::held_elsewhere : LockResult::unsupported;
}

}  // namespace odb
