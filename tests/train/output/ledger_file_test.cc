#include "train/output/ledger_file.h"

#include <cerrno>

#include "base/error.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "train/output/run_paths.h"

using namespace odb;

namespace {

const RunPaths kPaths{"/run"};

StepRecord step(std::int64_t life, std::int64_t number, std::vector<ViewId> trained,
                std::vector<LeftOut> left_out = {}, std::int64_t epoch = 0) {
  return {.life = life,
          .epoch = epoch,
          .step = number,
          .trained = std::move(trained),
          .left_out = std::move(left_out)};
}

void write(FileSystem& files, int rank, const std::vector<LedgerRecord>& records) {
  LedgerFile file(files, kPaths.ledger(rank));
  for (const LedgerRecord& record : records)
    file.append(record);
  file.sync();
}

std::vector<LedgerRecord> records_of(FileSystem& files, int rank) {
  std::vector<LedgerRecord> records;
  read_ledgers(files, kPaths.ledgers(), [&](int found, const LedgerRecord& record) {
    if (found == rank) records.push_back(record);
  });
  return records;
}

}  // namespace

TEST_CASE("A ledger continues where the previous life ended") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  write(files, 0, {LifeMarker{.life = 0, .world = 1, .resumed_step = 0}, step(0, 1, {5, 6})});
  {
    LedgerFile file(files, kPaths.ledger(0));
    CHECK(file.last_step() == 1);
    file.append(step(0, 2, {7}));
  }  // written by the destructor
  CHECK(LedgerFile(files, kPaths.ledger(0)).last_step() == 2);
  CHECK(records_of(files, 0) ==
        std::vector<LedgerRecord>{LifeMarker{.life = 0, .world = 1, .resumed_step = 0},
                                  step(0, 1, {5, 6}), step(0, 2, {7})});
}

TEST_CASE("A torn record is cut off before the next one is appended") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  write(files, 0, {step(0, 1, {5}), step(0, 2, {6})});
  const std::uint64_t size = files.file_size(kPaths.ledger(0));
  for (std::uint64_t cut = 1; cut <= 3; ++cut) {
    files.truncate(kPaths.ledger(0), size - cut);
    write(files, 0, {step(1, 2, {6})});
    CHECK(records_of(files, 0) == std::vector<LedgerRecord>{step(0, 1, {5}), step(1, 2, {6})});
  }
}

TEST_CASE("Damage before the end of a ledger and other files are refused") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  write(files, 0, {step(0, 1, {5}), step(0, 2, {6})});
  std::string bytes = files.read_all(kPaths.ledger(0));
  bytes[20] ^= 1;
  files.write_durably(kPaths.ledger(0), bytes);
  CHECK_THROWS_AS(LedgerFile(files, kPaths.ledger(0)), FileError);
  files.write_durably(kPaths.ledger(0), "something else altogether");
  CHECK_THROWS_AS(LedgerFile(files, kPaths.ledger(0)), FileError);
  CHECK(files.read_all(kPaths.ledger(0)) == "something else altogether");
}

TEST_CASE("Appending keeps records in memory until there are enough, and sync writes them") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  LedgerFile file(files, kPaths.ledger(0));
  const std::size_t opened = files.steps().size();
  for (int i = 1; i <= 100; ++i)
    file.append(step(0, i, {i}));
  CHECK(files.steps().size() == opened);
  file.sync();
  CHECK(files.steps().size() == opened + 2);
  std::vector<ViewId> many(70000, 1ll << 30);
  file.append(step(0, 101, many));
  CHECK(files.steps().size() == opened + 3);
}

TEST_CASE("After a failed write nothing more is appended, and the next life cuts off the tear") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  {
    LedgerFile file(files, kPaths.ledger(0));
    file.append(step(0, 1, {5}));
    file.sync();
    files.set_capacity(files.file_size(kPaths.ledger(0)) + 10);
    file.append(step(0, 2, {6}));
    CHECK_THROWS_AS(file.sync(), FileError);
    files.set_capacity(1 << 20);
    file.append(step(0, 3, {7}));
    CHECK_THROWS_AS(file.sync(), InternalError);
  }
  CHECK(LedgerFile(files, kPaths.ledger(0)).last_step() == 1);
}

// A manifest is written only after sync() returned: then the records must be there whatever
// happens.
TEST_CASE("What was synced survives a crash at any later moment") {
  bool synced = false;
  const auto crashes =
      for_every_crash([](FileSystem& files) { files.make_folders(kPaths.ledgers()); },
                      [&](FileSystem& files) {
                        synced = false;
                        LedgerFile file(files, kPaths.ledger(0));
                        file.append(LifeMarker{.life = 0, .world = 1, .resumed_step = 0});
                        file.append(step(0, 1, {5, 6}));
                        file.sync();
                        synced = true;
                        file.append(step(0, 2, {7}));
                        file.sync();
                      },
                      [&](FaultyFileSystem& files, std::size_t crashed_at, Unsynced unsynced) {
                        INFO("crash at " << crashed_at << ", unsynced " << name(unsynced));
                        const std::int64_t last = LedgerFile(files, kPaths.ledger(0)).last_step();
                        CHECK(last <= 2);
                        if (synced) CHECK(last >= 1);
                      });
  CHECK(crashes >= 5);
}

TEST_CASE("Ledgers of all ranks and lives show that every view came once") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  // Two ranks; the first life dies after step 2, of which only step 1 was saved; three ranks
  // continue.
  write(files, 0,
        {LifeMarker{.life = 0, .world = 2, .resumed_step = 0}, step(0, 1, {0, 2}),
         step(0, 2, {4, 6})});
  write(files, 1, {step(0, 1, {1}, {{3, LeftOutReason::bad_record}}), step(0, 2, {5})});
  write(files, 0, {LifeMarker{.life = 1, .world = 3, .resumed_step = 1}, step(1, 2, {4})});
  write(files, 1, {step(1, 2, {5, 6})});
  write(files, 2, {step(1, 2, {7})});
  const auto coverage = ledger_coverage(files, kPaths.ledgers(), 8);
  REQUIRE(coverage.size() == 1);
  CHECK(coverage.at(0).every_view_once());
  CHECK(coverage.at(0).trained == 7);
  CHECK(coverage.at(0).left_out.at(LeftOutReason::bad_record) == 1);

  write(files, 2, {step(1, 3, {7, 0}, {}, 0)});
  const EpochCoverage repeated = ledger_coverage(files, kPaths.ledgers(), 9).at(0);
  CHECK(repeated.repeated == 2);
  CHECK(repeated.missing_examples == std::vector<ViewId>{8});
}

TEST_CASE("A folder without ledgers is refused") {
  FaultyFileSystem files;
  files.make_folders(kPaths.ledgers());
  CHECK_THROWS_WITH(ledger_coverage(files, kPaths.ledgers(), 8),
                    Catch::Contains("found no rank-00000.bin"));
}

TEST_CASE("Names of ranks") {
  CHECK(kPaths.ledger(7) == "/run/ledger/rank-00007.bin");
  CHECK(parse_rank_name("rank-00007.bin", ".bin") == 7);
  CHECK(parse_rank_name("rank-123456.bin", ".bin") == 123456);
  for (const char* wrong : {"rank-7.bin", "rank-00007", "rank-00007.bin.tmp", "rank--0007.bin",
                            "rank-.bin", ".bin", "rank-000007.bin", "rank-99999999999.bin"})
    CHECK_FALSE(parse_rank_name(wrong, ".bin"));
}
