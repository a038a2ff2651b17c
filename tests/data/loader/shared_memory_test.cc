#include "data/loader/shared/shared_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "catch.h"

using namespace odb;

namespace {

// More than clear_resident() looks at in one piece, not a multiple of it, and sparse.
constexpr std::size_t kBytes = (4096 + 5) * kPage;

bool is_zero(const SharedMemory& memory) {
  return std::ranges::all_of(memory.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

void write_some(const SharedMemory& memory) {
  for (const std::size_t place : {std::size_t{0}, 7 * kPage + 1, 4096 * kPage, kBytes - 1})
    memory.bytes()[place] = std::byte{1};
}

}  // namespace

TEST_CASE("shared memory begins as zeros, and a child's writes are seen") {
  const SharedMemory memory("test", kBytes);
  CHECK(memory.bytes().size() == kBytes);
  CHECK(is_zero(memory));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    write_some(memory);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(memory.bytes()[kBytes - 1] == std::byte{1});
}

TEST_CASE("cleared shared memory is all zeros, with and without the system's help") {
  SharedMemory memory("test", kBytes);
  write_some(memory);
  memory.clear();
  CHECK(is_zero(memory));
  write_some(memory);
  memory.clear_resident();
  CHECK(is_zero(memory));
}
