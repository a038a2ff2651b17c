// A caching allocator: keeps the memory of freed CPU tensors for later ones.
//
// Micro-batches allocate and free the same tensors over and over, each time a little larger or
// smaller, because every flat batch has its own number of tokens. The C library either returns
// large blocks to the system at once, and each page is then mapped and cleared again (a sixth of
// the step time of a small model), or keeps them in a heap that such sizes fragment. Here a freed
// block goes to a list of its size class, four classes to a doubling, and serves the next tensor
// that fits. When a new block is needed, the blocks that have been free longest are returned to the
// system, so that all blocks together never exceed the peak use of tensors by more than a
// sixteenth.
#pragma once

#include <cstddef>
#include <cstdint>

namespace odb {

// Switches all CPU tensors of this process to kept memory. For processes that train: call it once,
// before any tensor exists. Any thread may allocate and free tensors.
void enable_caching_allocator();

// The size of the class for a block of `bytes`; at least `bytes`.
std::size_t size_class(std::size_t bytes);

struct CachingAllocatorStats {
  std::int64_t in_use = 0;  // bytes of blocks that tensors hold; small tensors are not counted
  std::int64_t cached = 0;  // bytes of free blocks
  std::int64_t peak = 0;    // the maximum of both together
};
// Zeros before enable_caching_allocator().
CachingAllocatorStats caching_allocator_stats();

}  // namespace odb
