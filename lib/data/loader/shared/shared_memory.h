// Memory that a process shares with the processes forked from it. It has no name: nothing remains
// when they are killed, and /dev/shm need not be large.
//
// It starts as zeros, and only touched pages take memory, so it may be sized for the worst case.
// It has no file, so neither a file size limit nor a filter of system calls matters. A
// fork inherits the mapping at the same address; objects that hold pointers into it are copied by
// the fork and stay valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <type_traits>

#include "base/error.h"

namespace odb {

class SharedMemory {
 public:
  // At least `bytes`, rounded up to whole pages. `name` is for messages. FileError when the system
  // refuses.
  SharedMemory(const std::string& name, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

  // Makes it all zeros and returns the pages to the system, where it can. No process may use it
  // meanwhile.
  void clear();
  // The part of clear() that needs no help of the system. Keeps the pages.
  void clear_resident();

  // The memory from `offset` on as `count` objects. Only for types that are valid as all zeros and
  // need no destructor.
  template <typename T>
  std::span<T> objects(std::size_t offset, std::size_t count) const {
    static_assert(std::is_trivially_destructible_v<T>);
    ODB_CHECK(offset % alignof(T) == 0 && offset + count * sizeof(T) <= bytes_.size(),
              "{} objects of {} bytes at {} of {}", count, sizeof(T), offset, bytes_.size());
    return {std::launder(reinterpret_cast<T*>(bytes_.data() + offset)), count};
  }

 private:
  void unmap() noexcept;

  std::span<std::byte> bytes_;
};

// One object in shared memory of its own. Its default value is all zeros.
template <typename T>
class SharedObject {
 public:
  explicit SharedObject(const std::string& name)
      : memory_(name, sizeof(T)), object_(new(memory_.bytes().data()) T) {
    static_assert(std::is_trivially_destructible_v<T>);
  }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

  void clear() { memory_.clear(); }

 private:
  SharedMemory memory_;
  T* object_;
};

// `offset` rounded up to a multiple of `alignment`, a power of two.
constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;

}  // namespace odb
