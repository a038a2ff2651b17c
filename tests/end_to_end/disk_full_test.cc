// Runs on a disk that is too small, or fills up. They need root, for a small disk of their own.
#include <signal.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "catch.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

// A file system in memory, of the given bytes, at the run's folder.
class SmallDisk {
 public:
  SmallDisk(const TrainerRun& run, std::uint64_t bytes) : folder_(run.paths().folder) {
    std::filesystem::create_directories(folder_);
    mounted_ = ::mount("odb-test", folder_.c_str(), "tmpfs", 0,
                       ("size=" + std::to_string(bytes)).c_str()) == 0;
    if (!mounted_)
      WARN("NOT TESTED: a full disk. Mounting one failed: " << errno_text(errno)
                                                            << "; run as root");
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }
  std::uint64_t free() const {
    struct statvfs found = {};
    REQUIRE(::statvfs(folder_.c_str(), &found) == 0);
    return static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
  }
  void fill_up_to(std::uint64_t free_bytes) const {
    std::ofstream filler(folder_ + "/filler", std::ios::binary);
    filler << std::string(free() - free_bytes, 'x');
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

constexpr std::uint64_t kPlenty = 64 << 20;
constexpr std::uint64_t kSmall = 128 << 10;  // less than a checkpoint of the test's model

Arguments words_of(const TrainerRun& run) {
  return {"--data", run.texts("a.jsonl", 90), "--l-max", "256", "--epochs", "1000000"};
}

}  // namespace

TEST_CASE("A run is refused before its first step where a checkpoint has no room") {
  TrainerRun run;
  const SmallDisk disk(run, kSmall);
  if (!disk.mounted()) return;
  run_to_end(run, 2, words_of(run), 4);
  INFO(run.all_lines());
  CHECK_THAT(run.lines(0), Catch::Contains("a checkpoint of this model takes about "));
  CHECK_THAT(run.lines(0), Catch::Contains(std::to_string(kSmall) + " bytes) free"));
  CHECK_THAT(run.lines(1), Catch::Contains("a checkpoint of this model takes about ") ||
                               Catch::Contains("exit code 4"));
  CHECK(run.all_lines().find("step 1 ") == std::string::npos);
  CHECK(std::filesystem::is_empty(run.paths().folder));
}

TEST_CASE("A save that fills the disk leaves no part of it, and reports what is needed and free") {
  TrainerRun run;
  const SmallDisk disk(run, kPlenty);
  if (!disk.mounted()) return;
  run.start(2, words_of(run));
  await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
  disk.fill_up_to(kSmall);  // room for more lines of metrics
  run.send(0, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{4, 4});
  INFO(run.all_lines());
  CHECK_THAT(run.lines(0), Catch::Contains(".tmp/"));
  CHECK_THAT(run.lines(0), Catch::Contains("No space left on device"));
  CHECK_THAT(run.lines(0), Catch::Contains("a checkpoint takes about "));
  CHECK_THAT(run.lines(0), Catch::Contains(" bytes) free"));
  CHECK(std::filesystem::is_empty(run.paths().checkpoints()));
  CHECK(run.summary().at("steps") >= 3);
  run.await_nothing_left();
}
