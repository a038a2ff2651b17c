#include "data/processes/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace odb {

SharedMemory::SharedMemory(const std::string& name, std::size_t bytes) {
  const std::size_t size = aligned(bytes, kPage);
  const auto refuse = [&](const char* call, int error_number) {
    throw FileError("{} bytes of shared memory for {}: {} failed: {}", size, name, call,
                    errno_text(error_number));
  };
  const int descriptor = ::memfd_create(("odb-" + name).c_str(), MFD_CLOEXEC);
  if (descriptor < 0) refuse("memfd_create", errno);
  void* place = MAP_FAILED;
  const char* call = "ftruncate";
  if (::ftruncate(descriptor, static_cast<off_t>(size)) == 0) {
    call = "mmap";
    place =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  }
  const int error_number = errno;
  ::close(descriptor);
  if (place == MAP_FAILED) refuse(call, error_number);
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
