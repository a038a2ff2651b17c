#include "data/records/array_scanner.h"

#include <vector>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

struct Broken {
  std::string json;
  std::string message;
};

// The same text in one piece, or byte by byte.
std::string scan(const std::string& json, std::size_t piece) {
  std::string starts;
  try {
    ArrayScanner scanner("a.json", [&](std::uint64_t first_byte, std::uint64_t line) {
      starts += fmt::format("{}@{} ", first_byte, line);
    });
    for (std::size_t at = 0; at < json.size(); at += piece)
      scanner.add(std::string_view(json).substr(at, piece), at);
    return fmt::format("{}end {}", starts, scanner.finish());
  } catch (const DataError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("Elements are found wherever the pieces are cut") {
  const std::string json = "\n[ {\"a\\\\\\\"]\": [[1], \"}\\n\"]},\n2 ,\"\\\"\",[] ]\n";
  for (std::size_t piece = 1; piece <= json.size(); ++piece)
    CHECK(scan(json, piece) == "3@2 29@3 32@3 37@3 end 40");
}

TEST_CASE("An array that is broken at its top level is refused with the line") {
  const std::vector<Broken> cases = {
      {"", "a.json:1: found nothing;"},
      {"{}", "a.json:1: found '{' at the start;"},
      {"[", "a.json:1: found the end of the file before the closing ']'"},
      {"[1,\n2", "a.json:2: found the end of the file before the closing ']'"},
      {"[1,\n,2]", "a.json:2: found ',' where a value was expected;"},
      {"[,1]", "a.json:1: found ',' where a value was expected;"},
      {"[1,\n\n]", "a.json:3: found ']' where a value was expected;"},
      {"[1] 2", "a.json:1: found '2' after the end of the array;"},
      {"[1}]", "a.json:1: found '}' that closes nothing;"},
      {"[\"]", "a.json:1: found the end of the file before the closing ']'"},
  };
  for (const Broken& broken : cases) {
    INFO(broken.json);
    CHECK_THAT(scan(broken.json, 1000), Catch::StartsWith(broken.message));
    CHECK(scan(broken.json, 1) == scan(broken.json, 1000));
  }
}
