#include "data/loader/shared/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.h"

namespace odb {

SharedMemory::SharedMemory(const std::string& name, std::size_t bytes) {
  const std::size_t size = aligned(bytes, kPage);
  const auto refuse = [&](const char* call) {
    throw FileError("{} bytes of shared memory for {}: {} failed: {}", size, name, call,
                    errno_text(errno));
  };
  const Descriptor file(::memfd_create(("odb-" + name).c_str(), MFD_CLOEXEC));
  if (!file.open()) refuse("memfd_create");
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) refuse("ftruncate");
  void* const place =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (place == MAP_FAILED) refuse("mmap");
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

void SharedMemory::clear() {
  ODB_CHECK(::madvise(bytes_.data(), bytes_.size(), MADV_REMOVE) == 0, "{}", errno_text(errno));
}

void SharedMemory::unmap() noexcept {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace odb
