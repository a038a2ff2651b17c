#include "base/bytes.h"

#include <array>

#include "base/error.h"

namespace odb {

std::string format_bytes(std::uint64_t count) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (count < 1024) return fmt::format("{} B", count);
  auto scaled = static_cast<double>(count);
  std::size_t unit = 0;
  // 1023.95 would print as 1024.0 of the smaller unit.
  while (scaled >= 1023.95 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", scaled, kUnits.at(unit));
}

std::string_view ByteReader::read_bytes(std::uint64_t count) {
  if (count > remaining())
    throw FileError("{}: wanted {} bytes at offset {}, found {}: the file is cut short or damaged",
                    what_, count, position_, remaining());
  const std::string_view result = bytes_.substr(position_, count);
  position_ += count;
  return result;
}

namespace detail {
void check_integer_bytes(std::size_t found, std::size_t wanted) {
  ODB_CHECK_GE(found, wanted);
}
}  // namespace detail

}  // namespace odb
