#include "train/output/checkpoint_space.h"

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "temporary_folder.h"

using namespace odb;

TEST_CASE("A checkpoint takes the bytes of the weights and of the optimizer's state") {
  CHECK(checkpoint_bytes(100, {}) == 300);
  CHECK(checkpoint_bytes(100, {.optimizer = OptimizerKind::sgd}) == 100);
  CHECK(checkpoint_bytes(100, {.optimizer = OptimizerKind::sgd, .sgd_momentum = 0.9}) == 200);
}

TEST_CASE("A run is refused where its file system cannot hold one checkpoint, with both amounts") {
  FaultyFileSystem files;
  files.make_folders("/disk");
  files.set_capacity(3000);
  files.write_durably("/disk/other", std::string(1000, 'x'));
  REQUIRE(files.free_space("/disk") == 2000);
  CHECK_NOTHROW(require_space(files, "/disk/new/run", false, 2000));
  try {
    require_space(files, "/disk/new/run", false, 2001);
    FAIL("not refused");
  } catch (const FileError& error) {
    CHECK_THAT(error.what(), Catch::Contains("--output /disk/new/run"));
    CHECK_THAT(error.what(), Catch::Contains("(2001 bytes"));
    CHECK_THAT(error.what(), Catch::Contains("(2000 bytes) free"));
  }
  CHECK_FALSE(files.exists("/disk/new"));
}

TEST_CASE("With --overwrite the space of the old run counts, and nothing else of the folder") {
  FaultyFileSystem files;
  files.set_capacity(3000);
  files.make_folders("/run/checkpoints/step-00000001");
  files.write_durably("/run/checkpoints/step-00000001/model", std::string(1500, 'm'));
  files.write_durably("/run/metrics.jsonl", std::string(100, 'l'));
  files.write_durably("/run/notes", std::string(400, 'n'));
  CHECK(space_for_run(files, "/run", false) == 1000);
  CHECK(space_for_run(files, "/run", true) == 2600);
  CHECK(files.exists("/run/checkpoints/step-00000001/model"));
}

TEST_CASE("Where the free space is not known, nothing is refused") {
  RealFileSystem files;
  CHECK_NOTHROW(require_space(files, "/proc", false, ~std::uint64_t{0}));
  CHECK(lack_of_space(files, "/proc", ~std::uint64_t{0}).empty());
}

TEST_CASE("Links in the old run free nothing, and are not followed") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const std::string step = folder / "run/checkpoints/step-00000001";
  files.make_folders(step);
  folder.write("run/checkpoints/step-00000001/model", std::string(1000, 'm'));
  folder.write("elsewhere", std::string(5000, 'e'));
  std::filesystem::create_symlink(folder / "elsewhere", step + "/a");
  for (const char* name : {"/b", "/c", "/d"})  // round and round
    std::filesystem::create_directory_symlink(folder / "run", step + name);
  CHECK(bytes_of_run(files, folder / "run") == 1000);
}

TEST_CASE("Files of a run that cannot be counted are reported") {
  FaultyFileSystem files;
  files.make_folders("/run/checkpoints/step-00000001");
  files.write_durably("/run/metrics.jsonl", std::string(100, 'l'));
  files.fail_next(FaultyFileSystem::Call::list, EIO, "checkpoints");
  CHECK_THROWS_AS(bytes_of_run(files, "/run"), FileError);
  CHECK(bytes_of_run(files, "/run") == 100);
}

TEST_CASE("A failed save reports a lack of space only if there is one") {
  FaultyFileSystem files;
  files.make_folders("/run");
  files.set_capacity(500);
  CHECK_THAT(lack_of_space(files, "/run", 501), Catch::Contains("(501 bytes), /run has 500"));
  CHECK(lack_of_space(files, "/run", 500).empty());
  files.fail_next(FaultyFileSystem::Call::free_space, EIO);
  CHECK(lack_of_space(files, "/run", 501).empty());
}
