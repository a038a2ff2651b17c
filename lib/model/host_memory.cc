#include "model/host_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>

#include <limits>
#endif

namespace odb {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc allows
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace odb
