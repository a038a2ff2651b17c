#include "model/files/safetensors.h"

#include <functional>
#include <type_traits>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "model/test_models.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

SafetensorsHeader parse_file(const std::string& bytes) {
  const TemporaryFolder folder;
  RealFileSystem files;
  return read_safetensors_header(files, folder.write("a.safetensors", bytes));
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape,
                     offsets);
}

void check_refused(const std::string& bytes, const std::vector<std::string>& parts) {
  try {
    parse_file(bytes);
    FAIL_CHECK("was not refused: " << parts.front());
  } catch (const FileError& error) {
    CHECK_THAT(error.what(), Catch::Contains("a.safetensors: "));
    for (const std::string& part : parts)
      CHECK_THAT(error.what(), Catch::Contains(part));
  }
}

}  // namespace

TEST_CASE("A header is read: tensors in the order of their bytes, metadata separately") {
  const std::string header =
      "{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "BF16", "[2,3]", "[8,20]") + "," +
      entry("a", "F32", "[2]", "[0,8]") + "," + entry("none", "F32", "[0,4]", "[8,8]") + "," +
      entry("scalar", "I64", "[]", "[20,28]") + "}  ";
  const SafetensorsHeader read = parse_file(safetensors_bytes(header, 28));
  REQUIRE(read.tensors.size() == 4);
  const std::uint64_t data = 8 + header.size();
  CHECK(read.tensors[0].name == "a");
  CHECK(read.tensors[1].name == "none");
  CHECK(read.tensors[1].bytes() == 0);
  CHECK(read.tensors[2].name == "b");
  CHECK(read.tensors[2].type == TensorType::bf16);
  CHECK(read.tensors[2].shape == TensorShape{2, 3});
  CHECK(read.tensors[2].begin == data + 8);
  CHECK(read.tensors[2].end == data + 20);
  CHECK(read.tensors[3].shape.empty());
  CHECK(read.metadata == std::map<std::string, std::string>{{"format", "pt"}});
}

TEST_CASE("Files that are not safetensors, or cut, are refused") {
  check_refused("", {"found 0 bytes"});
  check_refused("1234567", {"found 7 bytes"});
  check_refused(std::string(8, '\0'), {"does not begin with '{'"});
  check_refused(std::string(8, '\xff') + "{}", {"18446744073709551615", "at most 100000000"});
  check_refused(safetensors_bytes("{}", 0).substr(0, 9), {"found 9 bytes, expected a header of 2"});
  check_refused(safetensors_bytes(" {}", 0), {"does not begin with '{'"});
  check_refused(safetensors_bytes("{\"a\":1}", 0), {"tensor a: found 1, expected an object"});
  check_refused(safetensors_bytes("{} {}", 0), {"malformed JSON"});
  check_refused(safetensors_bytes("{" + entry("a", "F32", "[2]", "[0,8]") + "}", 7),
                {"the file is cut"});
  check_refused(safetensors_bytes("{" + entry("a", "F32", "[2]", "[0,8]") + "}", 9),
                {"found 1 bytes after the last tensor"});
}

TEST_CASE("Entries that contradict themselves or each other are refused by tensor") {
  struct Row {
    std::string entries;
    std::string message;
  };
  const Row rows[] = {
      {entry("a", "F32", "[2]", "[0,7]"), "data_offsets [0, 7]; expected 8 bytes for F32 of [2]"},
      {entry("a", "F32", "[2]", "[8,0]"), "data_offsets [8, 0]"},
      {entry("a", "F32", "[2]", "[0]"),
       "data_offsets: found a list, expected a list of two offsets"},
      {entry("a", "F32", "[2]", "[-8,0]"), "data_offsets: found -8, expected a whole number"},
      {entry("a", "F32", "[2]", "[0,8.5]"), "data_offsets: found 8.5"},
      {entry("a", "F32", "[-2]", "[0,8]"), "shape: found -2"},
      {entry("a", "F32", "[4294967296,4294967296,4]", "[0,8]"), "is too large"},
      {entry("a", "F32", "\"2\"", "[0,8]"), "shape: found \"2\""},
      {entry("a", "F7", "[2]", "[0,8]"), "dtype: found \"F7\""},
      {"\"a\":{}", "dtype: found nothing"},
      {entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[4,8]"),
       "the key \"a\" comes twice"},
      {entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[1]", "[4,8]"),
       "tensor b overlaps the one before it by 4 bytes"},
      {entry("a", "F32", "[1]", "[4,8]"), "4 bytes before tensor a belong to no tensor"},
      {"\"__metadata__\":{\"a\":1}", "__metadata__: a: found 1, expected a text"},
      {"\"__metadata__\":[]", "__metadata__: found a list"},
  };
  for (const Row& row : rows)
    check_refused(safetensors_bytes("{" + row.entries + "}", 8), {row.message});
}

TEST_CASE("Metadata that is null counts as none") {
  const std::string bytes =
      safetensors_bytes("{\"__metadata__\":null," + entry("a", "F32", "[2]", "[0,8]") + "}", 8);
  const SafetensorsHeader header = parse_file(bytes);
  CHECK(header.metadata.empty());
  CHECK(header.tensors.size() == 1);
}

TEST_CASE("What is written is read back, and equal tensors give equal files") {
  const TemporaryFolder folder;
  RealFileSystem files;
  const std::string first(24, 'x');
  const std::string second(6, 'y');
  const std::vector<TensorToWrite> tensors = {
      {"a.b", TensorType::f32, {2, 3}, [&] { return std::string_view(first); }},
      {"c \"quoted\"", TensorType::bf16, {3}, [&] { return std::string_view(second); }}};
  write_safetensors(files, folder / "1", tensors, {{"format", "pt"}});
  write_safetensors(files, folder / "2", tensors, {{"format", "pt"}});
  const std::string bytes = files.read_all(folder / "1");
  CHECK(bytes == files.read_all(folder / "2"));
  CHECK(bytes.ends_with(first + second));
  const SafetensorsHeader header = read_safetensors_header(files, folder / "1");
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].begin % 8 == 0);
  CHECK(header.tensors[1].name == "c \"quoted\"");
  CHECK(header.metadata.at("format") == "pt");
}

TEST_CASE("A crash at any point of a write leaves no file or a whole one") {
  const std::string data(4096, 'x');
  const std::vector<TensorToWrite> tensors = {
      {"a", TensorType::f32, {1024}, [&] { return std::string_view(data); }}};
  for (std::size_t step = 1; step < 8; ++step) {
    FaultyFileSystem files;
    files.crash_at(step);
    try {
      write_safetensors(files, "/a.safetensors", tensors, {});
    } catch (const FileError&) {
      CHECK(files.crashed());
    }
    for (const Unsynced unsynced : kAllUnsynced) {
      FaultyFileSystem disk = files.after_crash(unsynced);
      if (disk.exists("/a.safetensors"))
        CHECK(read_safetensors_header(disk, "/a.safetensors").tensors.size() == 1);
    }
  }
}

TEST_CASE("A header of 60,000 tensors is written and read, each key looked up in a sorted tree") {
  // A linear search for each key would take 1.8 billion comparisons.
  STATIC_REQUIRE(std::is_same_v<SortedJson::object_t::key_compare, std::less<>>);
  constexpr int kTensors = 60'000;
  const TemporaryFolder folder;
  RealFileSystem files;
  std::vector<TensorToWrite> tensors;
  for (int i = 0; i < kTensors; ++i)
    tensors.push_back({fmt::format("model.layers.{:05}.mlp.experts.{:02}.down_proj.weight",
                                   i * 7919 % kTensors, i % 64),
                       TensorType::bf16,
                       {1},
                       [] { return std::string_view("ab"); }});
  write_safetensors(files, folder / "many.safetensors", tensors, {{"format", "pt"}});
  const SafetensorsHeader header = read_safetensors_header(files, folder / "many.safetensors");
  REQUIRE(header.tensors.size() == kTensors);
  for (std::size_t i = 0; i < tensors.size(); i += 999)
    CHECK(header.tensors[i].name == tensors[i].name);
  CHECK(header.metadata.at("format") == "pt");
}
