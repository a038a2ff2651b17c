// What a file is taken for by its first bytes, and what is said when its name promises another
// kind.
#include "data/records/file_kind.h"

#include "base/error.h"
#include "catch.h"
#include "records/record_texts.h"

using namespace odb;
using namespace std::string_view_literals;

namespace {

std::string kind_name(std::string_view head) {
  return std::string(kind_of_content(head).name);
}

std::string failure(DataFolder& folder, const std::string& name) {
  try {
    folder.open(name);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string use_case(const std::string& name) {
  RealFileSystem files;
  return files.read_all(ODB_TESTS_FOLDER "/cases/use/" + name);
}

}  // namespace

TEST_CASE("The first bytes name what a file holds") {
  CHECK(kind_name(use_case("wrong_kind_of_file/gz_inside.jsonl")) == "gzip data");
  CHECK(kind_name(use_case("zst_window/long.jsonl.zst")) == "zstd data");
  CHECK(kind_name("\x5f\x2a\x4d\x18____") == "zstd data");
  CHECK(kind_name(use_case("wrong_kind_of_file/rows.parquet")) == "a Parquet file");
  CHECK(kind_name("\xfd"
                  "7zXZ\0\0"sv) == "xz data");
  CHECK(kind_name("BZh91AY&SY") == "bzip2 data");
  CHECK(kind_name("\xff\xfe{\0\"\0"sv) == "UTF-16 text");
  CHECK(kind_name("\xfe\xff\0{"sv) == "UTF-16 text");
  CHECK(kind_name("{\0\"\0m\0\"\0"sv) == "UTF-16 text");
  CHECK(kind_name("\0{\0\"\0m\0\""sv) == "UTF-16 text");
  CHECK(kind_name("\xff\xfe\0\0{\0\0\0"sv) == "UTF-32 text");
  CHECK(kind_name("prompt,completion\nhello,world\n") == "CSV text");
  CHECK(kind_name("\xEF\xBB\xBF\"prompt\"\t\"my answer\"\r\na\tb\n") == "CSV text");
  CHECK(kind_name("version https://git-lfs.github.com/spec/v1\n") ==
        "a Git LFS pointer in place of the file");
  CHECK(kind_name("\n<!DOCTYPE HTML><html>") == "an HTML page");
  CHECK(kind_name("\xff\xff\xff\xff\x58\x01\0\0"sv) == "an Arrow stream");
  CHECK(kind_name(std::string(257, 'x') + "ustar") == "a tar archive");
}

TEST_CASE("Text that may be JSON is text, whatever is wrong with its rows") {
  using Content = FileKind::Content;
  for (const std::string_view text :
       {R"({"a": 1})"sv, "\xEF\xBB\xBF[{}]"sv, ""sv, "\n\n {}"sv, "not, json\n{\"a\": 1}\n"sv,
        "hello world\nmore\n"sv, "1,2\n3,4\n"sv, "a,b"sv})
    CHECK(kind_of_content(text).content == Content::text);
  CHECK(kind_of_content("{\"a\": \"\x01\"}").content == Content::unknown);
  CHECK(kind_of_content(std::string(10, '\0')).content == Content::unknown);
}

TEST_CASE("A file that its name does not fit is refused as misnamed, never as damaged") {
  DataFolder folder;
  struct Case {
    std::string name, bytes, found;
  };
  for (const Case& one :
       {Case{"a.jsonl", use_case("wrong_kind_of_file/gz_inside.jsonl"),
             "is misnamed: it holds gzip data; rename it to " + folder.path("a.jsonl.gz")},
        Case{"b.json", use_case("zst_window/frames.jsonl.zst"),
             "rename it to " + folder.path("b.json.zst")},
        Case{"c.jsonl.gz", "{\"a\": 1}\n",
             "is misnamed: it holds text that is not compressed; "
             "rename it to " +
                 folder.path("c.jsonl")},
        Case{"d.jsonl.gz", use_case("zst_window/frames.jsonl.zst"),
             "is misnamed: it holds zstd data; rename it to " + folder.path("d.jsonl.zst")},
        Case{"e.jsonl", use_case("wrong_kind_of_file/rows.parquet"),
             "holds a Parquet file, which is not read; expected JSON Lines"},
        Case{"f.jsonl.zst", use_case("wrong_kind_of_file/rows.parquet"), "holds a Parquet file"},
        Case{"g.csv", "prompt,completion\nhello,world\n", "holds CSV text"}}) {
    INFO(one.name);
    folder.put(one.name, one.bytes);
    CHECK_THAT(failure(folder, one.name), Catch::Contains(one.name + ": ") &&
                                              Catch::Contains(one.found) &&
                                              !Catch::Contains("damaged"));
  }
}

TEST_CASE("Endings count in any case") {
  DataFolder folder;
  folder.put("UPPER.JSONL.GZ", use_case("wrong_kind_of_file/UPPER.jsonl.GZ"));
  CHECK(folder.open("UPPER.JSONL.GZ").rows() == 4);
  folder.put("A.JSONL", "[1]\n{}\n");
  CHECK(folder.open("A.JSONL").index().layout == RecordLayout::lines);
  CHECK(folder.open("A.JSONL").rows() == 2);
}

TEST_CASE("What a compressed file holds is named too") {
  DataFolder folder;
  // gzip of "PAR1": stored, not compressed.
  const std::string stored(
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x04\0\xfb\xffPAR1\xa5\x08\x42\x42\x04\0\0\0"sv);
  folder.put("a.jsonl.gz", stored);
  CHECK_THAT(failure(folder, "a.jsonl.gz"),
             Catch::Contains("a.jsonl.gz, decompressed: holds a Parquet file"));
}

TEST_CASE("zstd frames with a long window, and frames in a row, are read") {
  DataFolder folder;
  folder.put("long.jsonl.zst", use_case("zst_window/long.jsonl.zst"));
  CHECK(folder.open("long.jsonl.zst").rows() == 4);
  folder.put("frames.jsonl.zst", use_case("zst_window/frames.jsonl.zst"));
  CHECK(folder.open("frames.jsonl.zst").rows() == 4);
}

TEST_CASE("A zstd frame that needs a dictionary or too large a window is not called damaged") {
  DataFolder folder;
  // Frame headers: a window of 2^41 bytes; a dictionary with the number 7.
  folder.put("window.jsonl.zst", "\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"sv);
  folder.put("dictionary.jsonl.zst", "\x28\xb5\x2f\xfd\x01\x58\x07\x01\x00\x00"sv);
  CHECK_THAT(
      failure(folder, "window.jsonl.zst"),
      Catch::Contains("its window is larger than 2^31 bytes") && !Catch::Contains("damaged"));
  CHECK_THAT(failure(folder, "dictionary.jsonl.zst"),
             Catch::Contains("compressed with a dictionary") && !Catch::Contains("damaged"));
}
