// A queue of byte records between two processes: one writes, one reads, neither blocks in it.
//
// Records are contiguous and 8-byte aligned in shared memory: the writer builds a record in place,
// the reader uses it in place. Either side may be killed at any moment; its successor can use the
// ring. A record that was not published does not exist; one that was read but not popped comes
// again.
//
// Byte format: an 8-byte word (size of the record; or kSkip: the rest up to the ring's end is
// unused), then the record, padded to 8 bytes. `written` and `read` count bytes from the start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

class Ring {
 public:
  // Room for records of `bytes` in total; rounded up to a power of two, at least a page. A single
  // record may be as large as largest_record().
  Ring(const std::string& name, std::size_t bytes);

  std::size_t capacity() const { return bytes_.size(); }
  std::size_t largest_record() const { return bytes_.size() / 2 - kWord; }
  // The capacity that a ring needs for records of `bytes`.
  static std::size_t capacity_for(std::size_t bytes) { return 2 * (aligned(bytes, kWord) + kWord); }

  void clear();  // empties the ring; neither side may use it meanwhile

  // ---- The writing side.

  // Space of `size` bytes for the next record; empty: no room now, wait for room(). A second call
  // before publish() replaces the first one. InternalError: larger than largest_record().
  std::span<std::byte> reserve(std::size_t size);
  // Makes the reserved record visible. Does not wake the reader.
  void publish();
  // Wakes the reader. Once for many records: waking a sleeping reader costs a system call.
  void flush() { shared_->records.wake(); }
  WakeUp& room() { return shared_->room; }
  bool empty() const;  // every published record was popped

  // ---- The reading side.

  // The oldest record; empty: none now, wait for records(). Valid until pop(). InternalError: the
  // ring is damaged.
  std::span<const std::byte> front();
  // Removes front(). Wakes a sleeping writer once half of the ring is free.
  void pop();
  WakeUp& records() { return shared_->records; }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  static constexpr std::uint64_t kSkip = ~std::uint64_t{0};

  struct Shared {
    alignas(kCacheLine) std::atomic<std::uint64_t> written{0};
    alignas(kCacheLine) std::atomic<std::uint64_t> read{0};
    alignas(kCacheLine) WakeUp records;
    alignas(kCacheLine) WakeUp room;
  };

  std::uint64_t& word_at(std::uint64_t position) const;
  std::size_t left_before_end(std::uint64_t position) const;
  [[noreturn]] void damaged(std::uint64_t position, std::uint64_t word) const;

  std::string name_;
  SharedObject<Shared> shared_;
  SharedMemory memory_;
  std::span<std::byte> bytes_;
  std::uint64_t reserved_end_ = 0;  // `written` after publish()
  std::uint64_t front_end_ = 0;     // `read` after pop()
};

}  // namespace odb
