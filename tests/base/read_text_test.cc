#include "base/read_text.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "catch.h"
#include "temporary_folder.h"

using namespace odb;

TEST_CASE("a text is read to its end, from files and pipes") {
  const TemporaryFolder folder;
  std::string longer;
  for (int i = 0; i < 300'000; ++i)
    longer += "line " + std::to_string(i) + "\n";
  for (const std::string& text : {std::string(), std::string("one"), longer})
    CHECK(read_text("--lengths", folder.write("text", text), longer.size()) == text);

  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe) << longer; });
  const std::string read = read_text("--lengths", pipe, longer.size());
  writer.join();
  CHECK(read == longer);
}

TEST_CASE("what is not text, too long or not readable is a usage error that says so") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& path) {
    try {
      read_text("--lengths", path, 2048);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string path = folder.write("text", std::string(2049, '1'));
  CHECK(refused(path) ==
        "--lengths " + path + ": found more than 2.0 KiB, expected a text of at most that");
  CHECK(refused("/dev/zero") == "--lengths /dev/zero: found a byte 0 at offset 0, expected a text");
  CHECK(refused(folder / "none") ==
        "--lengths " + (folder / "none") +
            ": cannot read the file: No such file or directory (errno 2)");
  CHECK(refused(folder.path()) ==
        "--lengths " + folder.path() + ": cannot read the file: Is a directory (errno 21)");
}
