#include "data/loader/shared/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace odb {

SharedMemory::SharedMemory(const std::string& name, std::size_t bytes) {
  const std::size_t size = aligned(bytes, kPage);
  void* const place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    throw FileError("{} bytes of shared memory for {}: mmap failed: {}", size, name,
                    errno_text(errno));
  bytes_ = {static_cast<std::byte*>(place), size};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

SharedMemory::~SharedMemory() {
  unmap();
}

// Some sandboxes (gVisor) cannot return the pages; then those that exist are overwritten.
void SharedMemory::clear() {
  if (::madvise(bytes_.data(), bytes_.size(), MADV_REMOVE) != 0) clear_resident();
}

void SharedMemory::clear_resident() {
  constexpr std::size_t kAtOnce = 4096;  // pages
  std::array<unsigned char, kAtOnce> resident{};
  for (std::size_t offset = 0; offset < bytes_.size(); offset += kAtOnce * kPage) {
    const auto part = bytes_.subspan(offset, std::min(kAtOnce * kPage, bytes_.size() - offset));
    const bool known = ::mincore(part.data(), part.size(), resident.data()) == 0;
    for (std::size_t page = 0; page * kPage < part.size(); ++page)
      if (!known || (resident[page] & 1) != 0)
        std::memset(part.data() + page * kPage, 0, std::min(kPage, part.size() - page * kPage));
  }
}

void SharedMemory::unmap() noexcept {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace odb
