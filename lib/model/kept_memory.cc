#include "model/kept_memory.h"

#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <c10/core/CPUAllocator.h>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSmall = 256 << 10;  // below it the C library does well enough

// Precedes the memory that a tensor gets.
struct alignas(kAlignment) Header {
  std::size_t block = 0;    // bytes of the block; 0: a small one of the C library
  std::uint64_t freed = 0;  // of a free block: the count of frees at its own
};
static_assert(sizeof(Header) == kAlignment);

class KeptMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &give_back, cpu};
    void* data = take(bytes);
    return {data, data, &give_back, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  KeptMemoryFigures figures() {
    const std::lock_guard lock(mutex_);
    return figures_;
  }

 private:
  void* take(std::size_t bytes);
  // By size, those of a size in the order in which they were freed; the last is reused first.
  using FreeBlocks = std::map<std::size_t, std::vector<Header*>>;

  void* take_block(std::size_t& size);
  Header* take_free(FreeBlocks::iterator blocks, std::size_t place);
  void make_room();
  void put(Header* header);
  static void give_back(void* data);

  std::mutex mutex_;
  FreeBlocks free_;
  std::int64_t max_in_use_ = 0;
  std::uint64_t frees_ = 0;  // so far
  KeptMemoryFigures figures_;
};

KeptMemory& kept_memory() {
  static auto* const memory = new KeptMemory;  // outlives every tensor
  return *memory;
}

void* KeptMemory::take(std::size_t bytes) {
  const std::size_t needed = bytes + sizeof(Header);
  Header header;
  void* place = nullptr;
  if (needed < kSmall) {
    place = std::aligned_alloc(kAlignment, (needed + kAlignment - 1) / kAlignment * kAlignment);
  } else {
    header.block = memory_class(needed);
    place = take_block(header.block);
  }
  if (place == nullptr) throw std::bad_alloc();
  return new (place) Header(header) + 1;
}

// Takes a block of at least `size` and sets `size` to its size.
void* KeptMemory::take_block(std::size_t& size) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.lower_bound(size);
  const bool fits = found != free_.end() && found->first <= size + size / 4;
  if (fits) size = found->first;
  void* const place = fits ? take_free(found, found->second.size() - 1) : nullptr;
  figures_.in_use += static_cast<std::int64_t>(size);
  max_in_use_ = std::max(max_in_use_, figures_.in_use);
  if (place != nullptr) return place;
  make_room();
  void* const fresh =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  figures_.most = std::max(figures_.most, figures_.in_use + figures_.kept);
  return fresh == MAP_FAILED ? nullptr : fresh;
}

Header* KeptMemory::take_free(FreeBlocks::iterator blocks, std::size_t place) {
  Header* const header = blocks->second[place];
  blocks->second.erase(blocks->second.begin() + static_cast<std::ptrdiff_t>(place));
  figures_.kept -= static_cast<std::int64_t>(blocks->first);
  if (blocks->second.empty()) free_.erase(blocks);
  return header;
}

// Returns the blocks that have been free longest to the system, while all blocks exceed the peak
// use by more than a sixteenth.
void KeptMemory::make_room() {
  while (!free_.empty() && figures_.in_use + figures_.kept > max_in_use_ + max_in_use_ / 16) {
    const auto oldest =
        std::min_element(free_.begin(), free_.end(), [](const auto& a, const auto& b) {
          return a.second.front()->freed < b.second.front()->freed;
        });
    const std::size_t size = oldest->first;
    ::munmap(take_free(oldest, 0), size);
  }
}

void KeptMemory::put(Header* header) {
  const std::size_t size = header->block;
  const std::lock_guard lock(mutex_);
  header->freed = ++frees_;
  free_[size].push_back(header);
  figures_.in_use -= static_cast<std::int64_t>(size);
  figures_.kept += static_cast<std::int64_t>(size);
}

void KeptMemory::give_back(void* data) {
  if (data == nullptr) return;
  Header* const header = static_cast<Header*>(data) - 1;
  if (header->block == 0)
    std::free(header);
  else
    kept_memory().put(header);
}

}  // namespace

std::size_t memory_class(std::size_t bytes) {
  // A little above round numbers: token budgets are round, and the tensors of a full batch and of a
  // nearly full one should have the same class.
  constexpr std::size_t kPage = 4096;
  const std::size_t round = bytes - bytes / 64;
  const std::size_t quarter = std::max(kPage, std::bit_floor(std::max(round, kPage) - 1) / 4);
  const std::size_t size = (round + quarter - 1) / quarter * quarter;
  return (size + size / 48 + kPage) / kPage * kPage;
}

void keep_tensor_memory() {
  c10::SetCPUAllocator(&kept_memory());
#ifdef __GLIBC__
  // Keeps the memory of the libraries' own work as well.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // glibc's maximum
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

KeptMemoryFigures kept_memory_figures() {
  return kept_memory().figures();
}

}  // namespace odb
