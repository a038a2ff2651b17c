// Memory of CPU tensors that is kept for the tensors to come.
//
// Micro-batches take and free the same tensors over and over, each time a little larger or smaller,
// for every flat batch has its own number of tokens. The C library either gives large ones back to
// the system at once, and each page is then mapped and cleared anew (a sixth of the time of a small
// model's step), or keeps them in a heap that such sizes tear to pieces. Here a freed block goes to
// a list of its size class, four classes to a doubling, and serves the next tensor that it suits.
// What has been free longest is given back to the system when other blocks are wanted, so that all
// blocks together never take more than a sixteenth beyond what tensors once did at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace odb {

// From now on, for all CPU tensors of this process. For processes that train: call it once, before
// tensors are made. Any thread may make and free tensors.
void keep_tensor_memory();

// The size of the class of a block of `bytes`, at least that.
std::size_t memory_class(std::size_t bytes);

struct KeptMemoryFigures {
  std::int64_t in_use = 0;  // bytes of blocks that tensors hold; small tensors are not counted
  std::int64_t kept = 0;    // bytes of free blocks
  std::int64_t most = 0;    // that both came to
};
// Zeros before keep_tensor_memory().
KeptMemoryFigures kept_memory_figures();

}  // namespace odb
