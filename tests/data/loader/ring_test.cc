// Shared memory, wake-ups and rings: between two sides of one process, and between two processes of
// which one is killed.
#include "data/loader/shared/ring.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "base/rng.h"
#include "catch.h"

namespace odb {
namespace {

using std::chrono::milliseconds;

void write_record(Ring& ring, std::string_view text) {
  const std::span<std::byte> place = ring.reserve(text.size());
  REQUIRE(place.size() == text.size());
  std::memcpy(place.data(), text.data(), text.size());
  ring.publish();
}

std::string read_record(Ring& ring) {
  const std::span<const std::byte> record = ring.front();
  std::string text(reinterpret_cast<const char*>(record.data()), record.size());
  ring.pop();
  return text;
}

// Record `number` of the stream that both sides of a test know.
std::string known_record(std::uint64_t number, std::size_t most) {
  Rng rng(7, RandomPurpose::tests, 0, number);
  std::string text(1 + rng.below(most), ' ');
  for (char& letter : text)
    letter = static_cast<char>('a' + rng.below(26));
  return text;
}

int exit_code_of(pid_t process) {
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("shared memory: a forked process sees what is written, zeros at first and after clear") {
  SharedMemory memory("test", 10000);
  CHECK(memory.bytes().size() == 3 * kPage);
  const auto numbers = memory.objects<std::int64_t>(64, 2);
  CHECK(numbers[0] == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    numbers[1] = 42;
    ::_exit(0);
  }
  REQUIRE(exit_code_of(child) == 0);
  CHECK(numbers[1] == 42);
  memory.clear();
  CHECK(numbers[1] == 0);
  SharedMemory moved = std::move(memory);
  CHECK(moved.objects<std::int64_t>(64, 2).data() == numbers.data());
  CHECK_THROWS_AS(moved.objects<std::int64_t>(3 * kPage - 8, 2), InternalError);
}

TEST_CASE("wake up: a sleeper is woken by wake(), and polls by itself without it") {
  SharedObject<WakeUp> wake_up("test");
  std::atomic<bool> flag{false};
  std::thread waker([&] {
    flag = true;
    wake_up->wake();
  });
  CHECK(wait_for(*wake_up, [&] { return flag.load(); }, [] { return false; }));
  waker.join();

  int polls = 0;
  const bool came = wait_for(*wake_up, [] { return false; }, [&] { return ++polls == 3; });
  CHECK_FALSE(came);
  CHECK(polls == 3);
}

TEST_CASE("ring: records come complete and in order, and the capacity limits their number") {
  Ring ring("test", 1);
  CHECK(ring.capacity() == kPage);
  CHECK(ring.front().empty());
  CHECK(ring.empty());
  write_record(ring, "one");
  write_record(ring, "");
  write_record(ring, "three");
  CHECK_FALSE(ring.empty());
  CHECK(read_record(ring) == "one");
  CHECK(read_record(ring).empty());
  CHECK(read_record(ring) == "three");

  const std::string large(1000, 'x');
  int written = 0;
  while (!ring.reserve(large.size()).empty()) {
    write_record(ring, large);
    ++written;
  }
  CHECK(written == 4);  // 4,096 bytes hold four times 1,008
  CHECK(read_record(ring) == large);
  CHECK_FALSE(ring.reserve(large.size()).empty());
}

TEST_CASE("ring: the largest record fits at any offset, a larger one is an error") {
  Ring ring("test", kPage);
  const std::string largest(ring.largest_record(), 'l');
  for (std::size_t shift = 1; shift < 600; shift += 37) {
    write_record(ring, std::string(shift, 's'));
    CHECK(read_record(ring).size() == shift);
    write_record(ring, largest);
    CHECK(read_record(ring) == largest);
  }
  CHECK_THROWS_AS(ring.reserve(ring.largest_record() + 1), InternalError);
  CHECK(Ring::capacity_for(ring.largest_record()) == ring.capacity());
}

TEST_CASE("ring: a reserved record that is not published does not exist") {
  Ring ring("test", kPage);
  REQUIRE(ring.reserve(100).size() == 100);
  CHECK(ring.front().empty());
  write_record(ring, "real");
  CHECK(read_record(ring) == "real");
  CHECK(ring.empty());
}

TEST_CASE("ring: damage is detected before it is used") {
  Ring ring("test", kPage);
  write_record(ring, "12345678");
  const std::span<const std::byte> record = ring.front();
  const std::uint64_t wrong = 1 << 20;
  std::memcpy(const_cast<std::byte*>(record.data()) - sizeof wrong, &wrong, sizeof wrong);
  CHECK_THROWS_AS(ring.front(), InternalError);
}

TEST_CASE("ring: a reader process is killed again and again, and every record arrives in order") {
  constexpr std::uint64_t kRecords = 20000;
  Ring ring("test", 4 * kPage);
  SharedObject<std::atomic<std::uint64_t>> read("count");
  const auto read_all = [&] {
    while (*read < kRecords) {
      const bool there =
          wait_for(ring.records(), [&] { return !ring.front().empty(); }, [] { return false; });
      if (!there) return 1;
      const std::span<const std::byte> record = ring.front();
      const std::string expected = known_record(*read, 600);
      if (std::string_view(reinterpret_cast<const char*>(record.data()), record.size()) != expected)
        return 2;
      ring.pop();
      ++*read;
    }
    return 0;
  };
  const auto fork_reader = [&] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(read_all());
    return child;
  };
  // A reader is only killed between two records, where count and ring agree.
  pid_t reader = fork_reader();
  for (std::uint64_t number = 0; number < kRecords; ++number) {
    const std::string record = known_record(number, 600);
    std::span<std::byte> place;
    const bool room = wait_for(
        ring.room(), [&] { return !(place = ring.reserve(record.size())).empty(); },
        [&] {
          ring.flush();
          return false;
        });
    REQUIRE(room);
    std::memcpy(place.data(), record.data(), record.size());
    ring.publish();
    if (number % 64 == 0) ring.flush();
    if (number % 4000 == 3998) {
      ring.flush();
      while (*read <= number)
        std::this_thread::yield();
      ::kill(reader, SIGKILL);
      CHECK(exit_code_of(reader) == -SIGKILL);
      reader = fork_reader();
    }
  }
  ring.flush();
  CHECK(exit_code_of(reader) == 0);
}

}  // namespace odb
