#include "base/checksum.h"

#include <algorithm>

#include "catch.h"
#include "faulty_file_system.h"

using namespace odb;

namespace {
// 0, 1, ..., 250, 0, ...: its pieces differ from each other.
std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(i % 251);
  return bytes;
}
}  // namespace

TEST_CASE("checksums are those that xxhsum prints") {
  CHECK(to_hex(checksum64("")) == "2d06800538d394c2");
  CHECK(to_hex(checksum128("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(to_hex(checksum64("abc")) == "78af5f94892f3950");
  CHECK(to_hex(checksum128("abc")) == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("pieces give the checksum of the whole, at any point") {
  const std::string bytes = pattern(5000);
  for (const std::size_t piece : {1, 7, 64, 240, 241, 1024, 5000}) {
    ChecksumStream<std::uint64_t> stream64;
    ChecksumStream<Checksum128> stream128;
    for (std::size_t done = 0; done < bytes.size();) {
      const std::string_view next = std::string_view(bytes).substr(done, piece);
      stream64.update(next);
      stream128.update(next);
      done += next.size();
      const std::string_view so_far = std::string_view(bytes).substr(0, done);
      if (done % 1024 == 0 || done == bytes.size()) {
        INFO("piece " << piece << ", " << done << " bytes");
        CHECK(stream64.value() == checksum64(so_far));
        CHECK(stream128.value() == checksum128(so_far));
      }
    }
  }
}

TEST_CASE("a stream without bytes has the checksum of nothing") {
  ChecksumStream<Checksum128> stream;
  stream.update("");
  CHECK(stream.value() == checksum128(""));
}

TEST_CASE("a file's checksum is that of its bytes, across pieces, short reads and interrupts") {
  FaultyFileSystem files;
  files.interrupt_calls();
  files.limit_each_call(700'001);
  for (const std::size_t size : {0, 1, 1 << 20, (1 << 20) + 1, 3'000'000}) {
    const std::string bytes = pattern(size);
    files.write_durably("model.bin", bytes);
    INFO(size << " bytes");
    CHECK(file_checksum128(files, "model.bin") == checksum128(bytes));
  }
}
