#include "data/records/record_file.h"

#include "base/error.h"
#include "catch.h"
#include "records/record_texts.h"

using namespace odb;
using Rows = std::vector<std::string>;

namespace {

const std::string kBom = "\xEF\xBB\xBF";

struct Layout {
  std::string name;
  std::string file;
  std::string bytes;
  Rows rows;
  std::vector<std::uint64_t> lines;
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"plain lines", "a.jsonl", "{1}\n{2}\n{3}\n", {"{1}", "{2}", "{3}"}, {1, 2, 3}},
      {"no final line feed", "a.jsonl", "{1}\n{2}", {"{1}", "{2}"}, {1, 2}},
      {"mark and CRLF", "a.jsonl", kBom + "{1}\r\n{2}\r\n", {"{1}", "{2}"}, {1, 2}},
      {"blank lines", "a.jsonl", "\n \t\r\n{1}\n\n\n  {2} \n\r\n", {"{1}", "{2}"}, {3, 6}},
      {"a mark after a mark is text", "a.jsonl", kBom + kBom + "{1}\n", {kBom + "{1}"}, {1}},
      {"other separators are text",
       "a.jsonl",
       "{\xE2\x80\xA8}\n{\xE2\x80\xA9}\n{\xC2\x85}\n{\r}\n",
       {"{\xE2\x80\xA8}", "{\xE2\x80\xA9}", "{\xC2\x85}", "{\r}"},
       {1, 2, 3, 4}},
      {"zero bytes are text", "a.jsonl", std::string("{\0}\n", 4), {std::string("{\0}", 3)}, {1}},
      {"lines in a .json file", "a.json", "{1}\n{2}\n", {"{1}", "{2}"}, {1, 2}},
      {"a .jsonl file is never an array", "a.jsonl", "[1,2]\n", {"[1,2]"}, {1}},
      {"array", "a.json", "[{1},{2}]", {"{1}", "{2}"}, {1, 1}},
      {"spread array",
       "a.json",
       kBom + "\n[\n  {\"a\": \"],[\\\"\"} ,\n\n  {\"b\": [1, {}]}\n]\n",
       {"{\"a\": \"],[\\\"\"}", "{\"b\": [1, {}]}"},
       {3, 5}},
      {"array of other things",
       "a.json",
       "[1, \"x,y\", null, []]",
       {"1", "\"x,y\"", "null", "[]"},
       {1, 1, 1, 1}},
      {"empty array", "a.json", "[ ]", {}, {}},
      {"empty file", "a.jsonl", "", {}, {}},
      {"only a mark", "a.jsonl", kBom, {}, {}},
      {"only blanks", "a.jsonl", " \n\n ", {}, {}},
  };
  return all;
}

std::string failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Rows and their line numbers, by how the file is written") {
  for (const Layout& layout : layouts()) {
    INFO(layout.name);
    DataFolder folder;
    folder.put(layout.file, layout.bytes);
    const RecordFile file = folder.open(layout.file);
    CHECK(row_texts(file) == layout.rows);
    std::vector<std::uint64_t> lines;
    for (std::uint64_t row = 0; row < file.rows(); ++row)
      lines.push_back(file.line(row));
    CHECK(lines == layout.lines);
  }
}

TEST_CASE("A line number is right far after the last known one") {
  DataFolder folder;
  std::string bytes;
  for (int i = 0; i < 1000; ++i)
    bytes += fmt::format("{}{{\"row\": {}}}\n", i % 7 == 0 ? "\n" : "", i);
  const RecordFile file((folder.put("a.jsonl", bytes)), folder.cache());
  REQUIRE(file.rows() == 1000);
  for (const std::uint64_t row : {0, 1, 255, 256, 257, 700, 999}) {
    CHECK(row_text(file, row) == fmt::format("{{\"row\": {}}}", row));
    CHECK(file.line(row) == row + 1 + row / 7 + 1);
  }
  CHECK(file.where(700) == folder.path("a.jsonl") + ":802");
}

TEST_CASE("An index is reused, and rebuilt when the file has changed") {
  DataFolder folder;
  const std::string path = folder.put("a.jsonl", "{1}\n{2}\n");
  CHECK(folder.open("a.jsonl").rows() == 2);
  const std::vector<std::string> cached = folder.files().list(folder.path("cache"));
  const auto index_name = std::find_if(cached.begin(), cached.end(), [](const std::string& name) {
    return name.ends_with("-a.jsonl.index");
  });
  REQUIRE(index_name != cached.end());
  const std::string index = folder.path("cache/" + *index_name);
  const std::string first = folder.files().read_all(index);

  SECTION("used again as it is") {
    CHECK(folder.open("a.jsonl").rows() == 2);
    CHECK(folder.files().read_all(index) == first);
  }
  SECTION("the file has grown") {
    folder.put("a.jsonl", "{1}\n{2}\n{3}\n");
    CHECK(row_texts(folder.open("a.jsonl")) == Rows{"{1}", "{2}", "{3}"});
  }
  SECTION("other content of the same size") {
    folder.put("a.jsonl", "{12}\n{}\n");
    CHECK(row_texts(folder.open("a.jsonl")) == Rows{"{12}", "{}"});
  }
  SECTION("the index is cut, damaged or nonsense") {
    for (const std::string& bad : {first.substr(1), first.substr(0, first.size() - 1),
                                   std::string(), std::string("x"), std::string(300, 'x')}) {
      folder.files().write_durably(index, bad);
      CHECK(row_texts(folder.open("a.jsonl")) == Rows{"{1}", "{2}"});
      CHECK(folder.files().read_all(index) == first);
    }
  }
}

TEST_CASE("Equal contents have equal keys, others not") {
  DataFolder folder;
  folder.put("a.jsonl", "{1}\n{2}\n");
  folder.put("b.jsonl", "{1}\n{2}\n");
  folder.put("c.jsonl", "{1}\n{3}\n");
  CHECK(folder.open("a.jsonl").content_key() == folder.open("b.jsonl").content_key());
  CHECK(folder.open("a.jsonl").content_key() != folder.open("c.jsonl").content_key());
}

TEST_CASE("A file that changes while it is in use is noticed at the next read") {
  DataFolder folder;
  const std::string path = folder.put("a.jsonl", "{1}\n{2}\n");
  const RecordFile file(path, folder.cache());
  RecordBuffer buffer;
  file.read(1, buffer);
  SECTION("grown") {
    folder.files().append(path).write("{3}\n");
    CHECK_THAT(failure([&] { file.read(1, buffer); }),
               Catch::Contains("a.jsonl: changed while it was in use: it had 8 bytes and has 12"));
  }
  SECTION("cut") {
    folder.files().truncate(path, 4);
    CHECK_THAT(failure([&] { file.read(1, buffer); }), Catch::Contains("had 8 bytes and has 4"));
  }
  SECTION("replaced") {
    folder.put("a.jsonl", "{1}\n{2}\n");
    CHECK_THAT(failure([&] { file.read(1, buffer); }),
               Catch::Contains("it was deleted or replaced"));
  }
  SECTION("deleted") {
    folder.files().remove(path);
    CHECK_THAT(failure([&] { file.read(1, buffer); }),
               Catch::Contains("it was deleted or replaced"));
  }
}

TEST_CASE("A buffer frees the memory of an unusually long row") {
  DataFolder folder;
  const std::string big = "{\"text\": \"" + std::string(40 << 20, 'x') + "\"}";
  folder.put("a.jsonl", big + "\n{2}\n");
  const RecordFile file = folder.open("a.jsonl");
  RecordBuffer buffer;
  file.read(0, buffer);
  CHECK(buffer.text() == big);
  CHECK(buffer.capacity() < big.size() * 5 / 4);
  file.read(1, buffer);
  CHECK(buffer.text() == "{2}");
  CHECK(buffer.capacity() < 1 << 20);
}

TEST_CASE("A file that cannot be opened is named") {
  DataFolder folder;
  CHECK_THAT(failure([&] { folder.open("none.jsonl"); }),
             Catch::Contains("none.jsonl: cannot be opened for reading: No such file"));
  folder.files().make_folders(folder.path("folder.jsonl"));
  CHECK_THAT(failure([&] { folder.open("folder.jsonl"); }),
             Catch::Contains("folder.jsonl: is not a regular file"));
}
