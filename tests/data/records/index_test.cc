#include <random>

#include "base/error.h"
#include "catch.h"
#include "data/records/index_builder.h"
#include "data/records/index_writer.h"
#include "data/records/line_scanner.h"
#include "records/record_texts.h"

using namespace odb;

namespace {

// Rows by the simplest method: line by line.
std::vector<std::pair<std::uint64_t, std::uint64_t>> plain_rows(std::string_view bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows;
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < bytes.size(); ++line) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::size_t first = bytes.find_first_not_of(" \t\r", at);
    if (first < end) rows.emplace_back(first, line);
    at = end + 1;
  }
  return rows;
}

}  // namespace

TEST_CASE("An index of several pieces equals a scan line by line") {
  // Long runs of blanks and blank lines, so that some cross the borders of pieces.
  const unsigned seed = 20261129;
  CAPTURE(seed);
  std::mt19937 random(seed);
  DataFolder folder;
  std::string bytes;
  while (bytes.size() < 2 * kPieceBytes + 100) {
    const char byte = "\n \t\r{a"[random() % 6];
    bytes.append(1 + random() % (random() % 50 == 0 ? 20'000 : 3), byte);
  }
  // And one that crosses each border.
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(kPieceBytes) - 5'000, 9'000, ' ');
  bytes[2 * kPieceBytes - 1] = '\n';
  bytes[2 * kPieceBytes] = '{';
  const auto expected = plain_rows(bytes);
  REQUIRE(expected.size() > 100);

  const DataFile file(folder.put("a.jsonl", bytes));
  for (const int threads : {1, 3}) {
    build_index(folder.files(), file, folder.path("index"), {.threads = threads});
    const auto index = LineIndex::open(folder.path("index"));
    REQUIRE(index);
    REQUIRE(index->rows() == expected.size());
    std::uint64_t known_right = 0;
    for (std::uint64_t row = 0; row < index->rows(); ++row) {
      if (index->row(row).begin != expected[row].first) FAIL("row " << row);
      const std::uint64_t block = row - row % kRowsPerIndexBlock;
      const LineIndex::KnownLine known = index->known_line(row);
      known_right += known.byte == expected[block].first && known.line == expected[block].second;
    }
    CHECK(known_right == index->rows());
  }
}

TEST_CASE("Progress reaches the whole size") {
  DataFolder folder;
  const DataFile file(folder.put("a.jsonl", std::string(2 * kPieceBytes + 1, 'x')));
  std::vector<std::uint64_t> done;
  build_index(folder.files(), file, folder.path("index"),
              {.threads = 2, .progress = [&](std::uint64_t bytes, std::uint64_t total) {
                 CHECK(total == file.size());
                 done.push_back(bytes);
               }});
  CHECK(done == std::vector<std::uint64_t>{kPieceBytes, 2 * kPieceBytes, file.size()});
}

TEST_CASE("Rows more than 4 GiB apart need wide distances") {
  DataFolder folder;
  constexpr std::uint64_t kFar = (std::uint64_t{1} << 32) + 5;
  {
    IndexWriter narrow(folder.files(), folder.path("narrow"), 4);
    CHECK(narrow.add(7, 1));
    CHECK_FALSE(narrow.add(7 + kFar, 2));
  }
  IndexWriter wide(folder.files(), folder.path("wide"), 8);
  CHECK(wide.add(7, 1));
  CHECK(wide.add(7 + kFar, 2));
  wide.commit({.data_end = 3 * kFar});
  const auto index = LineIndex::open(folder.path("wide"));
  REQUIRE(index);
  CHECK(index->row(0).begin == 7);
  CHECK(index->row(0).end == 7 + kFar);
  CHECK(index->row(1).end == 3 * kFar);
  CHECK(index->trailer().longest_row == 2 * kFar - 7);
}

TEST_CASE("A damaged block is reported with the index's path when one of its rows is read") {
  DataFolder folder;
  std::string bytes;
  for (int row = 0; row < 600; ++row)
    bytes += fmt::format("{{{}}}\n", row);
  const DataFile file(folder.put("a.jsonl", bytes));
  const std::string path = folder.path("index");
  build_index(folder.files(), file, path);
  const std::string whole = folder.files().read_all(path);
  constexpr std::size_t kBlock = kIndexBlockHead + 4 * kRowsPerIndexBlock;
  for (const std::size_t at : {kBlock, kBlock + 9, kBlock + 17, kBlock + 24, 2 * kBlock - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder.files().write_durably(path, damaged);
    const auto index = LineIndex::open(path);
    REQUIRE(index);
    CHECK(index->row(254).begin == LineIndex::open(path)->row(253).end);
    CHECK(index->row(512).end > index->row(512).begin);
    CHECK_THROWS_AS(index->row(255), DataError);  // ends where the damaged block begins
    CHECK_THROWS_WITH(index->row(300), Catch::Contains(path + ": the index is damaged") &&
                                           Catch::Contains("row 300"));
    CHECK_THROWS_AS(index->known_line(511), DataError);
  }
}

TEST_CASE("A build that fails leaves nothing in the cache") {
  DataFolder folder;
  folder.put("a.json", "[{1},{2}");
  CHECK_THROWS_AS(folder.open("a.json"), DataError);
  CHECK(folder.files().list(folder.path("cache")).empty());
}
