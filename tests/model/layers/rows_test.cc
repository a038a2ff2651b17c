#include "model/layers/rows.h"

#include "catch.h"

using namespace odb;

TEST_CASE("Offsets of rows, and runs of equal ones") {
  const std::vector<std::int64_t> lengths = {3, 0, 3, 2, 2, 2, 0};
  const RowOffsets rows = RowOffsets::of_lengths(lengths);
  CHECK(rows.rows() == 7);
  CHECK(rows.tokens() == 12);
  CHECK(rows.longest() == 3);
  CHECK(rows.begin(3) == 6);
  CHECK(rows.length(1) == 0);
  const std::vector<RowRun> runs = rows.runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].rows == 2);
  CHECK(runs[0].length == 3);
  CHECK(runs[1].first_token == 6);
  CHECK(runs[1].tokens() == 6);
}

TEST_CASE("A padded batch is a run of equal rows, an empty one has none") {
  CHECK(RowOffsets::padded(4, 5).runs().size() == 1);
  CHECK(RowOffsets::padded(4, 5).tokens() == 20);
  CHECK(RowOffsets().tokens() == 0);
  CHECK(RowOffsets().runs().empty());
}
