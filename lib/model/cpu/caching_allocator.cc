#include "model/cpu/caching_allocator.h"

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

class CachingAllocator final : public c10::Allocator {
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

  CachingAllocatorStats stats() {
    const std::lock_guard lock(mutex_);
    return stats_;
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
  CachingAllocatorStats stats_;
};

CachingAllocator& caching_allocator() {
  static auto* const memory = new CachingAllocator;  // outlives every tensor
  return *memory;
}

void* CachingAllocator::take(std::size_t bytes) {
  const std::size_t needed = bytes + sizeof(Header);
  Header header;
  void* place = nullptr;
  if (needed < kSmall) {
    place = std::aligned_alloc(kAlignment, (needed + kAlignment - 1) / kAlignment * kAlignment);
  } else {
    header.block = size_class(needed);
    place = take_block(header.block);
  }
  if (place == nullptr) throw std::bad_alloc();
  return new (place) Header(header) + 1;
}

// Takes a block of at least `size` and sets `size` to its size.
void* CachingAllocator::take_block(std::size_t& size) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.lower_bound(size);
  const bool fits = found != free_.end() && found->first <= size + size / 4;
  if (fits) size = found->first;
  void* const place = fits ? take_free(found, found->second.size() - 1) : nullptr;
  stats_.in_use += static_cast<std::int64_t>(size);
  max_in_use_ = std::max(max_in_use_, stats_.in_use);
  if (place != nullptr) return place;
  make_room();
  void* const fresh =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stats_.peak = std::max(stats_.peak, stats_.in_use + stats_.cached);
  return fresh == MAP_FAILED ? nullptr : fresh;
}

Header* CachingAllocator::take_free(FreeBlocks::iterator blocks, std::size_t place) {
  Header* const header = blocks->second[place];
  blocks->second.erase(blocks->second.begin() + static_cast<std::ptrdiff_t>(place));
  stats_.cached -= static_cast<std::int64_t>(blocks->first);
  if (blocks->second.empty()) free_.erase(blocks);
  return header;
}

// Returns the blocks that have been free longest to the system, while all blocks exceed the peak
// use by more than a sixteenth.
void CachingAllocator::make_room() {
  while (!free_.empty() && stats_.in_use + stats_.cached > max_in_use_ + max_in_use_ / 16) {
    const auto oldest =
        std::min_element(free_.begin(), free_.end(), [](const auto& a, const auto& b) {
          return a.second.front()->freed < b.second.front()->freed;
        });
    const std::size_t size = oldest->first;
    ::munmap(take_free(oldest, 0), size);
  }
}

void CachingAllocator::put(Header* header) {
  const std::size_t size = header->block;
  const std::lock_guard lock(mutex_);
  header->freed = ++frees_;
  free_[size].push_back(header);
  stats_.in_use -= static_cast<std::int64_t>(size);
  stats_.cached += static_cast<std::int64_t>(size);
}

void CachingAllocator::give_back(void* data) {
  if (data == nullptr) return;
  Header* const header = static_cast<Header*>(data) - 1;
  if (header->block == 0)
    std::free(header);
  else
    caching_allocator().put(header);
}

}  // namespace

std::size_t size_class(std::size_t bytes) {
  // A little above round numbers: token budgets are round, and the tensors of a full batch and of a
  // nearly full one should have the same class.
  constexpr std::size_t kPage = 4096;
  const std::size_t round = bytes - bytes / 64;
  const std::size_t quarter = std::max(kPage, std::bit_floor(std::max(round, kPage) - 1) / 4);
  const std::size_t size = (round + quarter - 1) / quarter * quarter;
  return (size + size / 48 + kPage) / kPage * kPage;
}

void enable_caching_allocator() {
  c10::SetCPUAllocator(&caching_allocator());
#ifdef __GLIBC__
  // Keeps the memory of the libraries' own work as well.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // glibc's maximum
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

CachingAllocatorStats caching_allocator_stats() {
  return caching_allocator().stats();
}

}  // namespace odb
