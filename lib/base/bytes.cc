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
    throw FileError(
        "{}: expected {} bytes at offset {}, found {}: the file is cut short or damaged", what_,
        count, position_, remaining());
  const std::string_view result = bytes_.substr(position_, count);
  position_ += count;
  return result;
}

std::int64_t ByteReader::read_varint() {
  const std::size_t begin = position_;
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    const auto byte = read<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return static_cast<std::int64_t>(value);
  }
  throw FileError("{}: found a number of more than 63 bits at offset {}: the file is damaged",
                  what_, begin);
}

void append_varint(std::string& out, std::int64_t value) {
  ODB_CHECK_GE(value, 0);
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

namespace detail {
void check_integer_bytes(std::size_t found, std::size_t expected) {
  ODB_CHECK_GE(found, expected);
}
}  // namespace detail

}  // namespace odb
