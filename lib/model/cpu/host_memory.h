// Large pages for the memory of tensors on the CPU.
#pragma once

#include <cstddef>

namespace odb {

// Asks for large pages in this range of fresh memory: it is then mapped 2 MiB at a time, which
// halves the time that loading a large model takes. A system without large pages is not an error.
void prefer_large_pages(void* begin, std::size_t bytes);

}  // namespace odb
