#include "data/sample/row_lengths.h"

#include "base/error.h"
#include "catch.h"
#include "records/record_texts.h"

using namespace odb;

namespace {

const std::string kTokenizer = std::string(ODB_TESTS_FOLDER) + "/golden/chat/tokenizer";

DataOptions options_for(DataFolder& folder, const std::string& name) {
  return {.data = {folder.path(name)},
          .tokenizer = kTokenizer,
          .cutoff_len = 12,
          .on_bad_sample = OnBadSample::skip,
          .cache_dir = folder.path("cache")};
}

std::string row(int number) {
  return fmt::format(
      "{{\"messages\": [{{\"role\": \"user\", \"content\": \"{}\"}}, "
      "{{\"role\": \"assistant\", \"content\": \"yes\"}}]}}\n",
      number);
}

}  // namespace

TEST_CASE("The lengths of all rows, on any number of threads") {
  DataFolder folder;
  std::string bytes;
  for (int i = 0; i < 300; ++i)
    bytes += i % 100 == 50 ? "null\n" : row(i);
  folder.put("a.jsonl",
             bytes + "{\"messages\": []}\n{\"text\": \"some longer text of this row\"}\n");
  const SampleSource source(folder.files(), options_for(folder, "a.jsonl"), 0);
  const RecordFile& file = source.records().files().front();
  PassFindings findings;
  const auto lengths = measure_rows(source.preprocessor(), file, {.threads = 1}, &findings);
  REQUIRE(lengths.size() == 302);
  CHECK(lengths[50].reason() == LeftOutReason::bad_record);
  CHECK(lengths[300].reason() == LeftOutReason::empty);
  CHECK(findings.rows_by_format == std::vector<std::uint64_t>{298, 0, 0, 0, 1, 0});
  REQUIRE(findings.problems.size() == 3);
  CHECK(findings.problems[0] == folder.path("a.jsonl") + ":51: found null; expected an object");
  CHECK(findings.problems[2] == folder.path("a.jsonl") + ":251: found null; expected an object");
  // Length before the cut, supervised tokens after it.
  const auto builder = source.preprocessor().builder(0);
  Sample sample;
  builder->build(file, 7, sample);
  CHECK(lengths[7].length == sample.tokens.size());
  CHECK(lengths[301].length > 12);
  CHECK(lengths[301].supervised == 11);
  for (const int threads : {2, 5}) {
    PassFindings again;
    CHECK(measure_rows(source.preprocessor(), file, {.threads = threads}, &again) == lengths);
    CHECK(again.problems == findings.problems);
  }
}

TEST_CASE("A row whose answers are after the cut is left out, its length is kept") {
  DataFolder folder;
  folder.put("a.jsonl",
             row(1) +
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"a question of many "
                 "words\"}, {\"role\": \"assistant\", \"content\": \"yes\"}]}\n");
  DataOptions options = options_for(folder, "a.jsonl");
  options.cutoff_len = 24;
  const SampleSource source(folder.files(), options, 0);
  const auto lengths = measure_rows(source.preprocessor(), source.records().files().front(), {});
  CHECK(lengths[0].reason() == LeftOutReason::none);
  CHECK(lengths[1].reason() == LeftOutReason::cut_away);
  CHECK(lengths[1].length > 24);
}

TEST_CASE("A bad row ends a pass with on-bad-sample fail") {
  DataFolder folder;
  std::string bytes;
  for (int i = 0; i < 1000; ++i)
    bytes += i == 700 ? "{}\n" : row(i);
  folder.put("a.jsonl", bytes);
  DataOptions options = options_for(folder, "a.jsonl");
  options.on_bad_sample = OnBadSample::fail;
  const SampleSource source(folder.files(), options, 0);
  for (const int threads : {1, 4})
    CHECK_THROWS_WITH(
        measure_rows(source.preprocessor(), source.records().files().front(), {.threads = threads}),
        Catch::Contains("a.jsonl:701: found the keys none"));
}

TEST_CASE("Lengths are cached under data, tokenizer, template and cutoff") {
  DataFolder folder;
  folder.put("a.jsonl", row(1) + row(22));
  const auto cached = [&](const DataOptions& options) {
    const SampleSource source(folder.files(), options, 0);
    return load_row_lengths(source, source.records().files().front());
  };
  const DataOptions options = options_for(folder, "a.jsonl");
  CHECK_FALSE(cached(options));
  const SampleSource source(folder.files(), options, 0);
  const auto lengths = row_lengths(source, source.records().files().front());
  CHECK(cached(options) == lengths);
  CHECK(row_lengths(source, source.records().files().front()) == lengths);

  DataOptions other = options;
  other.cutoff_len = 13;
  CHECK_FALSE(cached(other));
  other = options;
  other.chat_template = "qwen3";
  CHECK_FALSE(cached(other));
  other = options;
  other.train_on = TrainOn::all;
  CHECK_FALSE(cached(other));
  other = options;
  other.tokenizer = std::string(ODB_TESTS_FOLDER) + "/cases/tokenizer/merges_pairs";
  CHECK_FALSE(cached(other));
  other = options;
  other.column = {"text=body"};
  CHECK_FALSE(cached(other));

  SECTION("other data") {
    folder.put("a.jsonl", row(1) + row(23));
    CHECK_FALSE(cached(options));
  }
  SECTION("a damaged file") {
    for (const std::string& name : folder.files().list(folder.path("cache"))) {
      if (!name.ends_with(".lengths")) continue;
      std::string bytes = folder.files().read_all(folder.path("cache/" + name));
      bytes[3] = static_cast<char>(bytes[3] ^ 1);
      folder.files().write_durably(folder.path("cache/" + name), bytes);
    }
    CHECK_FALSE(cached(options));
  }
}

TEST_CASE("Invalid options are found when the source is opened") {
  DataFolder folder;
  folder.put("a.jsonl", row(1));
  DataOptions options = options_for(folder, "a.jsonl");
  options.chat_template = "vicuna";
  CHECK_THROWS_AS(SampleSource(folder.files(), options, 0), UsageError);
  options = options_for(folder, "a.jsonl");
  options.tokenizer = "";
  CHECK_THROWS_AS(SampleSource(folder.files(), options, 0), UsageError);
  options = options_for(folder, "a.jsonl");
  options.tokenizer = folder.path("none");
  CHECK_THROWS_AS(SampleSource(folder.files(), options, 0), FileError);
  options = options_for(folder, "a.jsonl");
  options.column = {"mesages=x"};
  CHECK_THROWS_AS(SampleSource(folder.files(), options, 0), UsageError);
  options = options_for(folder, "none.jsonl");
  CHECK_THROWS_AS(SampleSource(folder.files(), options, 0), DataError);
}

TEST_CASE("The declarations of the data options are valid") {
  DataOptions options;
  OptionTable table;
  describe(table, options);
  table.check_declarations();
  CHECK(table.names() == std::vector<std::string>{"data", "on-bad-sample", "cache-dir", "tokenizer",
                                                  "data-format", "column", "chat-template",
                                                  "cutoff-len", "train-on",
                                                  "parse-special-in-text"});
}
