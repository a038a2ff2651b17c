// Byte buffers: sizes for people, integers for files.
//
// Bytes of files and messages travel as std::string (owned) and std::string_view (read). Files of
// this project hold integers in little-endian order on every machine; the writer appends to a
// string, the reader walks over a view, checks every length and names its source in errors.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace odb {

// "0 B", "1023 B", "1.5 KiB", "24.0 GiB": powers of 1024, one decimal from KiB on.
std::string format_bytes(std::uint64_t count);

// The memory of `values` as bytes. The view is valid as long as the values are.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Appends `value` to `out` in little-endian order: sizeof(T) bytes.
template <std::integral T>
void append_little_endian(std::string& out, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(bits & 0xff));
    bits = static_cast<std::make_unsigned_t<T>>(bits >> 4 >> 4);  // twice: a byte has no shift by 8
  }
}

// Appends `value`, which must not be negative (checked: InternalError), in groups of 7 bits, the
// lowest first, each but the last with the bit 0x80 (LEB128): 1 byte below 128, 5 below 2^35.
void append_varint(std::string& out, std::int64_t value);

// The little-endian integer in the first sizeof(T) bytes of `bytes`, which must hold that many
// (checked: InternalError). ByteReader is for input that may be short.
template <std::integral T>
T read_little_endian(std::string_view bytes);

// Walks over `bytes`, which must outlive it. `what` names the source in messages, e.g. the path of
// a file. Reading past the end throws FileError with the offset and both sizes, expected and found.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  template <std::integral T>
  T read() {
    return read_little_endian<T>(read_bytes(sizeof(T)));
  }
  std::string_view read_bytes(std::uint64_t count);
  // What append_varint wrote. FileError: more than 63 bits.
  std::int64_t read_varint();

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

 private:
  std::string_view bytes_;
  std::string what_;
  std::size_t position_ = 0;
};

namespace detail {
void check_integer_bytes(std::size_t found, std::size_t expected);
}

template <std::integral T>
T read_little_endian(std::string_view bytes) {
  detail::check_integer_bytes(bytes.size(), sizeof(T));
  std::uint64_t bits = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<T>(bits);
}

}  // namespace odb
