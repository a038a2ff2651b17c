// What survives a loss of power, at every possible point.
#include <cerrno>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "catch.h"
#include "faulty_file_system.h"

using namespace odb;
using Call = FaultyFileSystem::Call;
using Contents = std::map<std::string, std::string>;

namespace {
void nothing(FileSystem&) {}
}  // namespace

TEST_CASE("a durable write leaves the old file or the new one, whole, wherever power is lost") {
  std::map<std::string, int> seen;
  const std::size_t crashes =
      for_every_crash([](FileSystem& files) { files.write_durably("state.json", "old"); },
                      [](FileSystem& files) { files.write_durably("state.json", "newer"); },
                      [&](FaultyFileSystem& found, std::size_t step, Unsynced unsynced) {
                        INFO("crash at step " << step << ", unsynced " << name(unsynced));
                        const std::string bytes = found.read_all("state.json");
                        ++seen[bytes];
                        CHECK((bytes == "old" || bytes == "newer"));
                        // What is left over does not break the next write.
                        found.write_durably("state.json", "third");
                        CHECK(found.contents() == Contents{{"/state.json", "third"}});
                      });
  CHECK(crashes == 5);  // open, write, sync, rename, sync of the folder
  CHECK(seen.size() == 2);
}

TEST_CASE("a durable write that has returned survives any crash") {
  FaultyFileSystem files;
  files.make_folders("run/a");
  files.write_durably("run/a/state.json", "{}");
  for (const Unsynced unsynced : kAllUnsynced) {
    INFO(name(unsynced));
    CHECK(files.after_crash(unsynced).contents() ==
          Contents{{"/run/", ""}, {"/run/a/", ""}, {"/run/a/state.json", "{}"}});
  }
}

// As a checkpoint is written: a folder of synced files, renamed as a whole.
TEST_CASE("a folder is whole once it has its final name") {
  const auto save = [](FileSystem& files) {
    files.make_folders("step-1.tmp");
    for (const char* name : {"step-1.tmp/a", "step-1.tmp/MANIFEST"}) {
      OutputFile file = files.create(name);
      file.write("bytes");
      file.sync();
      file.close();
    }
    files.sync_folder("step-1.tmp");
    files.rename("step-1.tmp", "step-1");
    files.sync_folder(".");
  };
  int whole = 0;
  for_every_crash(nothing, save, [&](FaultyFileSystem& found, std::size_t step, Unsynced unsynced) {
    if (!found.exists("step-1")) return;
    ++whole;
    INFO("crash at step " << step << ", unsynced " << name(unsynced));
    CHECK(found.read_all("step-1/a") == "bytes");
    CHECK(found.read_all("step-1/MANIFEST") == "bytes");
    CHECK_FALSE(found.exists("step-1.tmp"));
  });
  CHECK(whole == 3);  // between rename and sync: where names are kept
}

TEST_CASE("a rename before the sync of the file's bytes is caught by the double") {
  const auto careless = [](FileSystem& files) {
    OutputFile file = files.create("state.tmp");
    file.write("newer");
    file.close();
    files.rename("state.tmp", "state");
    files.sync_folder(".");
  };
  bool empty_seen = false;
  for_every_crash([](FileSystem& files) { files.write_durably("state", "old"); }, careless,
                  [&](FaultyFileSystem& found, std::size_t, Unsynced) {
                    empty_seen |= found.read_all("state").empty();
                  });
  CHECK(empty_seen);
}

TEST_CASE("each kind of survival leaves what its name says") {
  FaultyFileSystem files;
  files.write_durably("kept", "12");
  OutputFile kept = files.append("kept");
  kept.write("3456");
  OutputFile fresh = files.create("fresh");
  fresh.write("abcd");
  CHECK(files.after_crash(Unsynced::lost).contents() == Contents{{"/kept", "12"}});
  CHECK(files.after_crash(Unsynced::kept).contents() ==
        Contents{{"/fresh", "abcd"}, {"/kept", "123456"}});
  CHECK(files.after_crash(Unsynced::names_only).contents() ==
        Contents{{"/fresh", ""}, {"/kept", "12"}});
  CHECK(files.after_crash(Unsynced::bytes_only).contents() == Contents{{"/kept", "123456"}});
  CHECK(files.after_crash(Unsynced::torn).contents() ==
        Contents{{"/fresh", "ab"}, {"/kept", "1234"}});
}

TEST_CASE("a removal is durable once the folder is synced") {
  FaultyFileSystem files;
  files.write_durably("old", "x");
  files.remove("old");
  CHECK(files.after_crash(Unsynced::lost).exists("old"));
  CHECK_FALSE(files.after_crash(Unsynced::kept).exists("old"));
  files.sync_folder("/");
  CHECK_FALSE(files.after_crash(Unsynced::lost).exists("old"));
}

TEST_CASE("a rename between folders needs the sync of both") {
  FaultyFileSystem files;
  files.make_folders("from");
  files.make_folders("to");
  files.write_durably("from/x", "x");
  files.rename("from/x", "to/x");
  files.sync_folder("to");
  CHECK(files.after_crash(Unsynced::lost).contents() ==
        Contents{{"/from/", ""}, {"/from/x", "x"}, {"/to/", ""}, {"/to/x", "x"}});
  files.sync_folder("from");
  CHECK(files.after_crash(Unsynced::lost).contents() ==
        Contents{{"/from/", ""}, {"/to/", ""}, {"/to/x", "x"}});
}

TEST_CASE("a cut is durable when truncate returns") {
  FaultyFileSystem files;
  files.write_durably("metrics.jsonl", "line\nhalf");
  files.truncate("metrics.jsonl", 5);
  for (const Unsynced unsynced : kAllUnsynced)
    CHECK(files.after_crash(unsynced).read_all("metrics.jsonl") == "line\n");
}

TEST_CASE("a full disk fails the write and keeps what was there") {
  FaultyFileSystem files;
  files.write_durably("state", "old");
  files.set_capacity(6);
  CHECK(files.free_space("/") == 3);
  CHECK_THROWS_WITH(files.write_durably("state", "newer"),
                    Catch::Contains("write state.tmp (3 of 5 bytes done): No space left"));
  CHECK(files.contents() == Contents{{"/state", "old"}});
  CHECK(files.free_space("/") == 3);
  files.set_capacity(100);
  files.write_durably("state", "newer");
  CHECK(files.read_all("state") == "newer");
}

TEST_CASE("after a failed sync only a file written anew is durable") {
  FaultyFileSystem files;
  OutputFile file = files.create("x");
  files.sync_folder("/");
  file.write("bytes");
  files.fail_next(Call::sync, EIO);
  CHECK_THROWS_AS(file.sync(), FileError);
  file.sync();
  CHECK(files.after_crash(Unsynced::lost).read_all("x").empty());
  files.write_durably("x", "bytes");
  CHECK(files.after_crash(Unsynced::lost).read_all("x") == "bytes");
}

TEST_CASE("a crash takes effect before its step and ends everything after it") {
  FaultyFileSystem files;
  files.crash_at(2);
  OutputFile file = files.create("x");
  CHECK_THROWS_AS(file.write("bytes"), FileError);
  CHECK(files.crashed());
  CHECK_THROWS_AS(files.create("y"), FileError);
  CHECK_THROWS_AS(files.list("/"), FileError);
  CHECK(files.contents() == Contents{{"/x", ""}});
  CHECK(files.steps().size() == 2);
  CHECK(files.steps()[1].call == Call::write);
  CHECK(files.steps()[1].path == "x");
}

TEST_CASE("an action's own error before the crash is not hidden") {
  CHECK_THROWS_AS(for_every_crash(
                      nothing, [](FileSystem& files) { files.read_all("none"); },
                      [](FaultyFileSystem&, std::size_t, Unsynced) {}),
                  FileError);
}
