#include "data/loader/shared/ring.h"

#include <algorithm>
#include <bit>

namespace odb {

Ring::Ring(const std::string& name, std::size_t bytes)
    : name_(name),
      shared_(name + "-ends"),
      memory_(name, std::bit_ceil(std::max(bytes, kPage))),
      bytes_(memory_.bytes()) {}

void Ring::clear() {
  shared_.clear();
  memory_.clear();
}

std::uint64_t& Ring::word_at(std::uint64_t position) const {
  return *reinterpret_cast<std::uint64_t*>(bytes_.data() + (position & (capacity() - 1)));
}

std::size_t Ring::left_before_end(std::uint64_t position) const {
  return capacity() - (position & (capacity() - 1));
}

std::span<std::byte> Ring::reserve(std::size_t size) {
  ODB_CHECK(size <= largest_record(), "ring {}: a record of {} bytes, at most {} fit", name_, size,
            largest_record());
  const std::uint64_t written = shared_->written.load(std::memory_order_relaxed);
  const std::size_t needed = kWord + aligned(size, kWord);
  const std::size_t before_end = left_before_end(written);
  const std::size_t skipped = before_end < needed ? before_end : 0;
  const std::uint64_t used = written - shared_->read.load(std::memory_order_acquire);
  if (used + skipped + needed > capacity()) return {};
  if (skipped > 0) word_at(written) = kSkip;
  const std::uint64_t begin = written + skipped;
  word_at(begin) = size;
  reserved_end_ = begin + needed;
  return bytes_.subspan((begin & (capacity() - 1)) + kWord, size);
}

void Ring::publish() {
  shared_->written.store(reserved_end_, std::memory_order_release);
}

bool Ring::empty() const {
  return shared_->written.load(std::memory_order_acquire) ==
         shared_->read.load(std::memory_order_acquire);
}

std::span<const std::byte> Ring::front() {
  const std::uint64_t read = shared_->read.load(std::memory_order_relaxed);
  const std::uint64_t there = shared_->written.load(std::memory_order_acquire) - read;
  if (there == 0) return {};
  std::uint64_t begin = read;
  if (word_at(begin) == kSkip) begin += left_before_end(begin);
  const std::uint64_t size = word_at(begin);
  const std::uint64_t end = begin + kWord + aligned(size, kWord);
  if (there > capacity() || size > largest_record() || end - read > there) damaged(begin, size);
  front_end_ = end;
  return bytes_.subspan((begin & (capacity() - 1)) + kWord, size);
}

void Ring::pop() {
  shared_->read.store(front_end_, std::memory_order_release);
  const std::uint64_t used = shared_->written.load(std::memory_order_relaxed) - front_end_;
  if (used <= capacity() / 2) shared_->room.wake();
}

void Ring::damaged(std::uint64_t position, std::uint64_t word) const {
  throw InternalError(
      "ring {}: found {} at byte {}, expected the size of a record, at most {}; the shared memory "
      "is damaged. This is a fault in odb-trainer; please report it.",
      name_, word, position, largest_record());
}

}  // namespace odb
