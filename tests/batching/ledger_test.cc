#include "batching/ledger.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "batching/audit.h"
#include "property.h"

using namespace odb;

namespace {

const std::vector<LedgerRecord> kRecords = {
    LifeMarker{.life = 0, .world = 8, .resumed_step = 0},
    StepRecord{.life = 0, .epoch = 0, .step = 1, .trained = {5, 0, 300, 1ll << 40}, .left_out = {}},
    StepRecord{.life = 0,
               .epoch = 0,
               .step = 2,
               .trained = {},
               .left_out = {{7, LeftOutReason::bad_record}, {200, LeftOutReason::crashed_worker}}},
    StepRecord{.life = 0,
               .epoch = 0,
               .step = 2,
               .trained = {},
               .left_out = {{9, LeftOutReason::bad_record}},
               .ends_epoch = true},
    LifeMarker{.life = 1, .world = 6, .resumed_step = 1, .resumed_epoch = 3},
};

std::string bytes_of(const std::vector<LedgerRecord>& records) {
  std::string bytes = ledger_header();
  for (const LedgerRecord& record : records)
    bytes += serialize(record);
  return bytes;
}

std::vector<LedgerRecord> read(std::string_view bytes, std::uint64_t* valid = nullptr) {
  std::vector<LedgerRecord> records;
  const std::uint64_t count =
      read_ledger(bytes, "rank-00000.bin", [&](const LedgerRecord& r) { records.push_back(r); });
  if (valid != nullptr) *valid = count;
  return records;
}

StepRecord step(std::int64_t life, std::int64_t number, std::vector<ViewId> trained,
                std::vector<LeftOut> left_out = {}, std::int64_t epoch = 0) {
  return {.life = life,
          .epoch = epoch,
          .step = number,
          .trained = std::move(trained),
          .left_out = std::move(left_out)};
}

}  // namespace

TEST_CASE("records are read back from their bytes in order") {
  std::uint64_t valid = 0;
  CHECK(read(bytes_of(kRecords), &valid) == kRecords);
  CHECK(valid == bytes_of(kRecords).size());
  CHECK(read(ledger_header()).empty());
}

TEST_CASE("the end of an epoch stands only if the resumed state was saved after it") {
  // Saved after step 5, the last one of epoch 0; 9 was left out after it.
  const StepRecord last = step(0, 5, {0, 1});
  StepRecord rest = step(0, 5, {}, {{2, LeftOutReason::bad_record}});
  rest.ends_epoch = true;
  for (const bool saved_after_end : {false, true}) {
    INFO("saved after the end of the epoch: " << saved_after_end);
    LedgerAudit audit(
        3,
        {LifeMarker{
            .life = 1, .world = 1, .resumed_step = 5, .resumed_epoch = saved_after_end ? 1 : 0}});
    audit.add(0, last);
    audit.add(0, rest);
    StepRecord again = rest;
    again.life = 1;
    if (!saved_after_end) audit.add(0, again);
    CHECK(audit.coverage().at(0).every_view_once());
    CHECK(audit.void_steps() == (saved_after_end ? 0 : 1));
  }
}

TEST_CASE("the bytes of a record do not change") {
  const std::string bytes = serialize(LedgerRecord(step(1, 300, {5, 128}, {}, 2)));
  // Length 10; its complement; type, life, epoch, step (two bytes), count, two views (one and two
  // bytes), count; checksum.
  CHECK(bytes.substr(0, 8) == std::string("\x0a\0\0\0\xf5\xff\xff\xff", 8));
  CHECK(bytes.substr(8, 10) == std::string("\x01\x01\x02\xac\x02\x02\x05\x80\x01\x00", 10));
  CHECK(read_little_endian<std::uint64_t>(std::string_view(bytes).substr(18)) ==
        checksum64(std::string_view(bytes).substr(8, 10)));
  CHECK(bytes.size() == 8 + 10 + 8);
}

TEST_CASE("a ledger cut anywhere gives its complete records and the number of valid bytes") {
  const std::string bytes = bytes_of(kRecords);
  std::vector<std::size_t> ends = {ledger_header().size()};
  for (const LedgerRecord& record : kRecords)
    ends.push_back(ends.back() + serialize(record).size());
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    std::uint64_t valid = 1;
    const auto records = read(std::string_view(bytes).substr(0, length), &valid);
    std::size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= length)
      ++whole;
    INFO("cut to " << length);
    CHECK(records ==
          std::vector<LedgerRecord>(kRecords.begin(), kRecords.begin() + static_cast<long>(whole)));
    CHECK(valid == (length < ends[0] ? 0 : ends[whole]));
  }
}

TEST_CASE("damage before the last record is an error that names the place") {
  const std::string bytes = bytes_of(kRecords);
  std::string damaged = bytes;
  const std::size_t first = ledger_header().size();
  damaged[first + 9] ^= 1;  // in the first body
  CHECK_THROWS_WITH(read(damaged), Catch::Contains("rank-00000.bin, offset 12"));
  damaged = bytes;
  damaged[bytes.size() - 1] ^= 1;  // in the last checksum: a torn write
  CHECK(read(damaged).size() == kRecords.size() - 1);
  CHECK_THROWS_AS(read("something else entirely"), FileError);
  std::string newer = bytes;
  newer[8] = 3;
  CHECK_THROWS_WITH(read(newer), Catch::Contains("version 3"));
}

TEST_CASE("a change of any byte is an error, or loses only the last record") {
  const std::string bytes = bytes_of(kRecords);
  const std::size_t last = bytes.size() - serialize(kRecords.back()).size();
  const std::vector<LedgerRecord> all_but_last(kRecords.begin(), kRecords.end() - 1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      INFO("byte " << i << " changed by " << change);
      if (i < last + 8)
        CHECK_THROWS_AS(read(damaged), FileError);
      else
        CHECK(read(damaged) == all_but_last);
    }
}

TEST_CASE("an end of zeros is a torn end") {
  const std::string bytes = bytes_of(kRecords);
  const std::size_t last = bytes.size() - serialize(kRecords.back()).size();
  for (const std::size_t zeros : {1, 4, 12, 5000}) {
    std::uint64_t valid = 0;
    CHECK(read(bytes + std::string(zeros, '\0'), &valid) == kRecords);
    CHECK(valid == bytes.size());
  }
  for (std::size_t kept = last; kept < bytes.size() - 1; ++kept) {
    INFO("kept " << kept);
    const std::string torn = bytes.substr(0, kept) + std::string(bytes.size() - kept + 100, '\0');
    std::uint64_t valid = 0;
    const auto records = read(torn, &valid);
    CHECK(records.size() == kRecords.size() - 1);
    CHECK(valid == last);
  }
}

TEST_CASE("a complete record with invalid content is refused") {
  const auto sealed = [](const std::string& body) {
    std::string bytes = ledger_header();
    const auto length = static_cast<std::uint32_t>(body.size());
    append_little_endian(bytes, length);
    append_little_endian(bytes, ~length);
    bytes += body;
    append_little_endian(bytes, checksum64(body));
    return bytes;
  };
  CHECK_THROWS_WITH(read(sealed("\x07")), Catch::Contains("type 7"));
  CHECK_THROWS_AS(read(sealed(std::string("\x01\0\0\0\x7f", 5))),
                  FileError);  // 127 views in 0 bytes
  CHECK_THROWS_AS(read(sealed("\x02" + std::string(12, '\xff'))), FileError);
}

TEST_CASE("random bytes after the header cause nothing worse than a FileError") {
  check_property("garbage", 500, [] {
    const auto garbage = *rc::gen::arbitrary<std::string>();
    try {
      read(ledger_header() + garbage);
    } catch (const FileError&) {
    }
  });
}

TEST_CASE("an audit counts what came, what came twice and what is missing") {
  LedgerAudit audit(6, {});
  audit.add(0, step(0, 1, {0, 1}));
  audit.add(1, step(0, 1, {2}, {{3, LeftOutReason::bad_record}}));
  CHECK_FALSE(audit.coverage().at(0).every_view_once());
  CHECK(audit.coverage().at(0).missing_examples == std::vector<ViewId>{4, 5});
  audit.add(0, step(0, 2, {4, 1}));
  audit.add(1, step(0, 2, {5}));
  const EpochCoverage found = audit.coverage().at(0);
  CHECK(found.trained == 6);
  CHECK(found.left_out == std::map<LeftOutReason, std::int64_t>{{LeftOutReason::bad_record, 1}});
  CHECK(found.repeated == 1);
  CHECK(found.repeated_examples == std::vector<ViewId>{1});
  CHECK(found.missing == 0);
  CHECK_THROWS_WITH(audit.add(0, step(0, 3, {6})), Catch::Contains("view 6"));
}

TEST_CASE("epochs are counted separately") {
  LedgerAudit audit(2, {});
  audit.add(0, step(0, 1, {0, 1}));
  audit.add(0, step(0, 2, {1}, {}, 1));
  CHECK(audit.coverage().at(0).every_view_once());
  CHECK(audit.coverage().at(1).missing_examples == std::vector<ViewId>{0});
}

TEST_CASE("a later life voids the steps after the one it resumed from") {
  // Life 0 reached step 3, life 1 resumed from 2 and reached 5, life 2 resumed from 2 again.
  LedgerAudit audit(4, {{0, 1, 0}, {1, 1, 2}, {2, 1, 2}});
  audit.add(0, step(0, 1, {0}));
  audit.add(0, step(0, 2, {1}));
  audit.add(0, step(0, 3, {2}));  // void
  audit.add(0, step(1, 3, {2}));  // void
  audit.add(0, step(1, 4, {3}));  // void
  audit.add(0, step(2, 3, {2}));
  audit.add(0, step(2, 4, {3}));
  CHECK(audit.void_steps() == 3);
  CHECK(audit.coverage().at(0).every_view_once());
}
