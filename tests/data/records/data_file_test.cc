#include "data/records/data_file.h"

#include <sys/stat.h>

#include "catch.h"
#include "records/record_texts.h"

using namespace odb;

TEST_CASE("Files that differ in size, head, tail or middle have different fingerprints") {
  DataFolder folder;
  const std::string base(3'000'000, 'a');
  const Checksum128 original = DataFile(folder.put("base", base)).fingerprint();
  CHECK(DataFile(folder.put("same", base)).fingerprint() == original);
  for (const std::size_t at : {std::size_t{0}, base.size() / 65 + 1, base.size() - 1}) {
    std::string other = base;
    other[at] = 'b';
    CHECK_FALSE(DataFile(folder.put("other", other)).fingerprint() == original);
  }
  CHECK_FALSE(DataFile(folder.put("longer", base + "a")).fingerprint() == original);
}

TEST_CASE("Small files are fingerprinted whole") {
  DataFolder folder;
  const std::string base(100'000, 'a');
  const Checksum128 original = DataFile(folder.put("base", base)).fingerprint();
  for (std::size_t at = 0; at < base.size(); at += 9'999) {
    std::string other = base;
    other[at] = 'b';
    CHECK_FALSE(DataFile(folder.put("other", other)).fingerprint() == original);
  }
}

TEST_CASE("A pipe without a writer is refused at once") {
  DataFolder folder;
  const std::string pipe = folder.path("pipe.jsonl");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(DataFile(pipe), Catch::Contains("pipe.jsonl: is not a regular file"));
}

TEST_CASE("Reads past the end are short, not errors") {
  DataFolder folder;
  const DataFile file(folder.put("a", "hello"));
  char buffer[10];
  CHECK(file.read_at(3, buffer) == 2);
  CHECK(std::string_view(buffer, 2) == "lo");
  CHECK(file.read_at(5, buffer) == 0);
  CHECK(file.size() == 5);
}
