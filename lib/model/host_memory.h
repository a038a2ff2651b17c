// How the system gives and keeps the memory of tensors on the CPU.
#pragma once

#include <cstddef>

namespace odb {

// Micro-batches take and free the same tensors over and over. By default the C library gives large
// ones back to the system at once, and each page is then mapped and cleared anew: a sixth of the
// time of a small model's step. After this call freed memory up to 32 MiB a tensor is kept for the
// next one. For processes that train: call it once, before tensors are made. Does nothing where the
// C library is not glibc.
void keep_freed_memory();

// Asks for large pages in this range of fresh memory: it is then mapped 2 MiB at a time, which
// halves the time that loading a large model takes. A system that has none to give is not an error.
void prefer_large_pages(void* begin, std::size_t bytes);

}  // namespace odb
