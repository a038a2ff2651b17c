// What /proc reports about a process's memory.
#include "base/process_memory.h"

#include <unistd.h>

#include "base/real_file_system.h"
#include "catch.h"

using namespace odb;

TEST_CASE("private memory: clean and written pages of smaps, without shared memory") {
  constexpr const char* kMaps =
      "5581-5582 rw-p 00000000 00:00 0 [heap]\n"
      "Rss:                  12 kB\n"
      "Private_Clean:         4 kB\n"
      "Private_Dirty:         8 kB\n"
      "7f00-7f10 rw-s 00000000 00:01 99 /dev/zero (deleted)\n"
      "Private_Dirty:       100 kB\n"
      "7f20-7f30 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6\n"
      "Private_Clean:         0 kB\n"
      "Private_Dirty:        16 kB\n";
  const PrivateMemory memory = parse_private_memory(kMaps);
  CHECK(memory.clean == 4 * 1024);
  CHECK(memory.written == 24 * 1024);
  CHECK(memory.total() == 28 * 1024);
}

TEST_CASE("this process has private memory, and at least as much at its peak") {
  RealFileSystem files;
  const PrivateMemory memory = private_memory(files, ::getpid());
  CHECK(memory.written > 0);
  CHECK(peak_memory_bytes() >= static_cast<std::int64_t>(memory.written));
  CHECK(private_memory(files, 0x7fffffff).total() == 0);
}
