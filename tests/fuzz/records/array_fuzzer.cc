// Any bytes as a JSON array, in one piece and byte by byte: the same rows or the same refusal.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "data/records/array_scanner.h"

namespace {

std::string scan(std::string_view json, std::size_t piece) {
  std::string rows;
  try {
    odb::ArrayScanner scanner("a.json", [&](std::uint64_t first_byte, std::uint64_t line) {
      ODB_CHECK_LT(first_byte, json.size());
      rows += fmt::format("{}@{} ", first_byte, line);
    });
    for (std::size_t at = 0; at < json.size(); at += piece)
      scanner.add(json.substr(at, piece), at);
    ODB_CHECK_LT(scanner.finish(), json.size());
  } catch (const odb::DataError& error) {
    rows += error.what();
  }
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  ODB_CHECK_EQ(scan(json, 1), scan(json, size + 1));
  return 0;
}
