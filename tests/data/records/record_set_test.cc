#include "data/records/record_set.h"

#include <map>
#include <sstream>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/error.h"
#include "base/log.h"
#include "catch.h"
#include "records/record_texts.h"

using namespace odb;

namespace {

std::string rows(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += fmt::format("{{{}}}\n", i);
  return bytes;
}

// How often each row of a file comes in one epoch.
std::map<std::uint64_t, int> row_counts(const RecordSet& set, std::size_t file,
                                        std::uint64_t epoch) {
  std::map<std::uint64_t, int> counts;
  for (std::uint64_t view = 0; view < set.views(); ++view) {
    const RecordSet::RowRef row = set.row(view, epoch);
    if (row.file == file) ++counts[row.row];
  }
  return counts;
}

}  // namespace

TEST_CASE("Files follow each other, an unweighted one gives its rows in order every epoch") {
  DataFolder folder;
  const RecordSet set({{folder.put("a.jsonl", rows(3))}, {folder.put("b.jsonl", rows(2))}}, 0,
                      folder.cache());
  CHECK(set.views() == 5);
  CHECK(set.rows() == 5);
  for (const std::uint64_t epoch : {0, 7}) {
    std::string order;
    for (std::uint64_t view = 0; view < 5; ++view)
      order += fmt::format("{}.{} ", set.row(view, epoch).file, set.row(view, epoch).row);
    CHECK(order == "0.0 0.1 0.2 1.0 1.1 ");
  }
}

TEST_CASE("A weight below one goes through all rows before any comes again") {
  DataFolder folder;
  const RecordSet set({{folder.put("a.jsonl", rows(10)), 0.5}, {folder.put("b.jsonl", rows(4))}}, 3,
                      folder.cache());
  REQUIRE(set.views() == 9);
  const auto first = row_counts(set, 0, 0);
  const auto second = row_counts(set, 0, 1);
  CHECK(first.size() == 5);
  CHECK(second.size() == 5);
  for (const auto& [row, count] : second)
    CHECK(first.count(row) == 0);
  CHECK(row_counts(set, 1, 0).size() == 4);
}

TEST_CASE("A weight above one repeats evenly") {
  DataFolder folder;
  const RecordSet set({{folder.put("a.jsonl", rows(10)), 2.5}}, 3, folder.cache());
  REQUIRE(set.views() == 25);
  std::map<int, int> rows_by_count;
  for (const auto& [row, count] : row_counts(set, 0, 0))
    ++rows_by_count[count];
  CHECK(rows_by_count == std::map<int, int>{{2, 5}, {3, 5}});
}

TEST_CASE("Which rows come depends on the seed and nothing else") {
  DataFolder folder;
  const std::vector<DataSource> sources = {{folder.put("a.jsonl", rows(1000)), 0.1}};
  const auto of_seed = [&](std::uint64_t seed) {
    return row_counts(RecordSet(sources, seed, folder.cache()), 0, 0);
  };
  CHECK(of_seed(1) == of_seed(1));
  CHECK(of_seed(1) != of_seed(2));
}

TEST_CASE("arguments of --data") {
  DataFolder folder;
  const std::string with_colon = folder.put("odd:0.5", "{}");
  CHECK(parse_data_source(folder.files(), "a.jsonl").path == "a.jsonl");
  CHECK(parse_data_source(folder.files(), "a.jsonl").weight == 1.0);
  CHECK(parse_data_source(folder.files(), "a.jsonl:0.25").path == "a.jsonl");
  CHECK(parse_data_source(folder.files(), "a.jsonl:0.25").weight == 0.25);
  CHECK(parse_data_source(folder.files(), with_colon).path == with_colon);
  const std::string there = folder.put("a", "{}");
  for (const std::string weight : {"0", "-1", "x", "", "1e9", "nan", "0.5x", "1e-400"}) {
    INFO(weight);
    CHECK_THROWS_AS(parse_data_source(folder.files(), there + ":" + weight), UsageError);
  }
  for (const std::string word : {"hf://datasets/a/b.jsonl", "s3://a/b.jsonl", "https://a/b.jsonl",
                                 "file:///a.jsonl", "hf://a/b.jsonl:0.5", "runs:a/train.jsonl"}) {
    INFO(word);
    CHECK_THROWS_AS(parse_data_source(folder.files(), word), DataError);
    CHECK_THROWS_WITH(parse_data_source(folder.files(), word),
                      Catch::Contains("--data " + word + ": no such file; nothing is downloaded"));
  }
}

TEST_CASE("A file whose weight gives it no view is logged") {
  DataFolder folder;
  std::ostringstream lines;
  set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
  const RecordSet set({{folder.put("a.jsonl", rows(10)), 0.01}, {folder.put("b.jsonl", rows(4))}},
                      0, folder.cache());
  set_log_sink(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  CHECK(set.views() == 4);
  CHECK_THAT(lines.str(),
             Catch::Contains("a.jsonl: with the weight 0.01 its 10 rows give no view"));
}

TEST_CASE("A data set without rows is refused") {
  DataFolder folder;
  CHECK_THROWS_AS(RecordSet({{folder.put("a.jsonl", "\n")}}, 0, folder.cache()), DataError);
  CHECK_THROWS_AS(RecordSet({{folder.put("b.jsonl", rows(1)), 0.1}}, 0, folder.cache()), DataError);
  CHECK_THROWS_AS(RecordSet({}, 0, folder.cache()), UsageError);
}
