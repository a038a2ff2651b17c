#include "base/bytes.h"

#include <limits>
#include <vector>

#include "base/error.h"
#include "catch.h"

using namespace odb;

TEST_CASE("byte counts are printed in powers of 1024") {
  struct Row {
    std::uint64_t count;
    const char* text;
  };
  const Row rows[] = {{0, "0 B"},
                      {1, "1 B"},
                      {1023, "1023 B"},
                      {1024, "1.0 KiB"},
                      {1536, "1.5 KiB"},
                      {1048575, "1.0 MiB"},
                      {std::uint64_t{24} << 30, "24.0 GiB"},
                      {std::uint64_t{139} << 30, "139.0 GiB"},
                      {std::numeric_limits<std::uint64_t>::max(), "16.0 EiB"}};
  for (const Row& row : rows)
    CHECK(format_bytes(row.count) == row.text);
}

TEST_CASE("integers are stored with the lowest byte first") {
  std::string bytes;
  append_little_endian<std::uint8_t>(bytes, 0xab);
  append_little_endian<std::uint16_t>(bytes, 0x0102);
  append_little_endian<std::int32_t>(bytes, -2);
  append_little_endian<std::uint64_t>(bytes, 0x1122334455667788);
  CHECK(bytes == std::string("\xab\x02\x01\xfe\xff\xff\xff\x88\x77\x66\x55\x44\x33\x22\x11", 15));
}

TEST_CASE("a reader gives back what was appended, in order") {
  std::string bytes;
  append_little_endian(bytes, std::numeric_limits<std::int64_t>::min());
  append_little_endian(bytes, std::int8_t{-1});
  bytes += "name";
  append_little_endian(bytes, std::numeric_limits<std::uint32_t>::max());

  ByteReader reader(bytes, "ledger");
  CHECK(reader.read<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(reader.read<std::int8_t>() == -1);
  CHECK(reader.read_bytes(4) == "name");
  CHECK(reader.position() == 13);
  CHECK(reader.remaining() == 4);
  CHECK(reader.read<std::uint32_t>() == std::numeric_limits<std::uint32_t>::max());
  CHECK(reader.remaining() == 0);
  CHECK(reader.read_bytes(0).empty());
}

TEST_CASE("reading past the end names the source, the place and both lengths") {
  ByteReader reader("abcde", "ledger/rank-00000.bin");
  reader.read<std::uint16_t>();
  CHECK_THROWS_WITH(
      reader.read<std::uint64_t>(),
      Catch::Contains("ledger/rank-00000.bin: expected 8 bytes at offset 2, found 3"));
  CHECK(reader.position() == 2);
  // A length field from a damaged file must not wrap around.
  CHECK_THROWS_AS(reader.read_bytes(std::numeric_limits<std::uint64_t>::max()), FileError);
  CHECK_THROWS_AS(read_little_endian<std::uint32_t>("abc"), InternalError);
}

TEST_CASE("varints have a fixed format and are read back") {
  std::string bytes;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{127}, std::int64_t{300}, most})
    append_varint(bytes, value);
  CHECK(bytes.substr(0, 4) == std::string("\x00\x7f\xac\x02", 4));
  CHECK(bytes.size() == 4 + 9);
  ByteReader reader(bytes, "state");
  CHECK(reader.read_varint() == 0);
  CHECK(reader.read_varint() == 127);
  CHECK(reader.read_varint() == 300);
  CHECK(reader.read_varint() == most);
  CHECK_THROWS_AS(append_varint(bytes, -1), InternalError);
  const std::string long_one(9, '\xff');
  CHECK_THROWS_WITH(ByteReader(long_one, "state").read_varint(),
                    Catch::Contains("state: found a number of more than 63 bits at offset 0"));
}

TEST_CASE("values are seen as their bytes") {
  const std::vector<std::uint8_t> values{1, 2, 255};
  CHECK(bytes_of(std::span<const std::uint8_t>(values)) == std::string_view("\x01\x02\xff", 3));
}
