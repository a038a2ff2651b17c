#include "data/records/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <filesystem>

#include "base/error.h"
#include "catch.h"
#include "records/record_texts.h"

using namespace odb;
using Rows = std::vector<std::string>;

namespace {

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

std::string failure(DataFolder& folder, const std::string& name) {
  try {
    folder.open(name);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string with_bytes(std::string bytes, std::size_t at, std::string_view others) {
  return bytes.replace(at, others.size(), others);
}

// The paths of the copies of a file.
std::vector<std::string> copies_of(DataFolder& folder, const std::string& name) {
  std::vector<std::string> paths;
  for (const std::string& file : folder.files().list(folder.path("cache")))
    if (file.ends_with("-" + name)) paths.push_back(folder.path("cache/" + file));
  return paths;
}

std::size_t copies(DataFolder& folder, const std::string& name) {
  std::size_t count = 0;
  for (const std::string& file : folder.files().list(folder.path("cache")))
    count += file.ends_with("-" + name) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("Compressed files have the rows of their content") {
  DataFolder folder;
  // Long enough that neither side fits into one buffer; every row different.
  std::string bytes;
  for (int i = 0; i < 200'000; ++i)
    bytes += fmt::format("{{\"row\": {}, \"x\": {}}}\n", i, i * 2654435761U);
  folder.put("plain.jsonl", bytes);
  folder.put("a.jsonl.gz", gzip(bytes));
  folder.put("b.jsonl.zst", zstd(bytes));
  folder.put("two.jsonl.gz", gzip(bytes.substr(0, 3'000'000)) + gzip(bytes.substr(3'000'000)));
  folder.put("two.jsonl.zst", zstd(bytes.substr(0, 3'000'000)) + zstd(bytes.substr(3'000'000)));
  const std::string key = folder.open("plain.jsonl").content_key();
  for (const std::string name : {"a.jsonl.gz", "b.jsonl.zst", "two.jsonl.gz", "two.jsonl.zst"}) {
    INFO(name);
    const RecordFile file = folder.open(name);
    CHECK(file.content_key() == key);
    CHECK(file.rows() == 200'000);
    CHECK(file.where(1234) == folder.path(name) + ":1235");
  }
}

TEST_CASE("A compressed array is an array") {
  DataFolder folder;
  folder.put("a.json.gz", gzip("[{1},\n{2}]"));
  CHECK(row_texts(folder.open("a.json.gz")) == Rows{"{1}", "{2}"});
}

TEST_CASE("The copy is kept, and replaced when the source changes") {
  DataFolder folder;
  folder.put("a.jsonl.gz", gzip("{1}\n"));
  CHECK(row_texts(folder.open("a.jsonl.gz")) == Rows{"{1}"});
  CHECK(row_texts(folder.open("a.jsonl.gz")) == Rows{"{1}"});
  CHECK(copies(folder, "a.jsonl") == 1);
  folder.put("a.jsonl.gz", gzip("{1}\n{2}\n"));
  CHECK(row_texts(folder.open("a.jsonl.gz")) == Rows{"{1}", "{2}"});
  CHECK(copies(folder, "a.jsonl") == 1);
}

TEST_CASE("A changed copy is written again") {
  DataFolder folder;
  const std::string bytes = "{\"row\": 1}\n{\"row\": 2}\n{\"row\": 3}\n";
  folder.put("a.jsonl.gz", gzip(bytes));
  const Rows rows = row_texts(folder.open("a.jsonl.gz"));
  REQUIRE(copies_of(folder, "a.jsonl").size() == 1);
  const std::string copy = copies_of(folder, "a.jsonl").front();
  const auto written = std::filesystem::last_write_time(copy);
  for (const std::string& damaged :
       {bytes.substr(0, 12), std::string(), with_bytes(bytes, 8, "7"), bytes + "{}\n"}) {
    for (const bool same_time : {false, true}) {
      INFO(damaged << ", same time: " << same_time);
      folder.files().write_durably(copy, damaged);
      if (same_time) std::filesystem::last_write_time(copy, written);
      CHECK(row_texts(folder.open("a.jsonl.gz")) == rows);
      CHECK(folder.files().read_all(copy) == bytes);
    }
  }
  folder.files().remove(copy + ".check");
  CHECK(row_texts(folder.open("a.jsonl.gz")) == rows);
}

TEST_CASE("A compressed file that changes while it is in use is noticed and named") {
  DataFolder folder;
  const std::string path = folder.put("a.jsonl.gz", gzip("{1}\n{2}\n"));
  const RecordFile file(path, folder.cache());
  CHECK(row_text(file, 1) == "{2}");
  folder.files().append(path).write("x");
  CHECK_THROWS_WITH(row_text(file, 1), Catch::Contains(path + ": changed while it was in use"));
}

TEST_CASE("A copy in use stays when its source changes") {
  DataFolder folder;
  const std::string path = folder.put("a.jsonl.gz", gzip("{1}\n"));
  {
    const RecordFile reader(path, folder.cache());
    folder.put("a.jsonl.gz", gzip("{1}\n{2}\n"));
    CHECK(row_texts(folder.open("a.jsonl.gz")) == Rows{"{1}", "{2}"});
    CHECK(copies(folder, "a.jsonl") == 2);
  }
  folder.put("a.jsonl.gz", gzip("{1}\n{2}\n{3}\n"));
  CHECK(row_texts(folder.open("a.jsonl.gz")).size() == 3);
  // Each has the copy, its check file and its index.
  CHECK(copies(folder, "a.jsonl") == 1);
  CHECK(folder.files().list(folder.path("cache")).size() == 3);
}

TEST_CASE("Zeros after the last gzip member are ignored") {
  DataFolder folder;
  folder.put("a.jsonl.gz", gzip("{1}\n") + gzip("{2}\n") + std::string(3'000'000, '\0'));
  CHECK(row_texts(folder.open("a.jsonl.gz")) == Rows{"{1}", "{2}"});
  folder.put("zeros.jsonl.gz", std::string(100, '\0'));
  CHECK_THAT(failure(folder, "zeros.jsonl.gz"), Catch::Contains("cannot be decompressed"));
}

TEST_CASE("Damaged or cut compressed files are refused and leave no copy") {
  DataFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("{{\"row\": {}}}\n", i * 7919);
  const std::string good_gzip = gzip(text);
  const std::string good_zstd = zstd(text);
  std::string flipped = good_gzip;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"cut.jsonl.gz", good_gzip.substr(0, good_gzip.size() / 2)},
      {"tail.jsonl.gz", good_gzip.substr(0, good_gzip.size() - 1)},
      {"flipped.jsonl.gz", flipped},
      {"cut.jsonl.zst", good_zstd.substr(0, good_zstd.size() / 2)}};
  for (const auto& [name, bytes] : cases) {
    INFO(name);
    folder.put(name, bytes);
    CHECK_THAT(failure(folder, name), Catch::Contains(name + ": cannot be decompressed"));
    CHECK(copies(folder, name.substr(0, name.rfind('.'))) == 0);
  }
}
