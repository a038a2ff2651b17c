// Checksums of bytes: XXH3 of the xxHash library, in 64 and 128 bits, seed 0.
//
// They find damage (a torn write, a bad disk), not forgery. The value depends on the bytes alone:
// feeding them in pieces gives the same as feeding them at once. Printed as lower-case hex, most
// significant digit first, as `xxhsum -H3` and `xxhsum -H2` print them.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace odb {

class FileSystem;

struct Checksum128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Checksum128&, const Checksum128&) = default;
};

std::uint64_t checksum64(std::string_view bytes);
Checksum128 checksum128(std::string_view bytes);

// 16 digits, 32 digits.
std::string to_hex(std::uint64_t checksum);
std::string to_hex(const Checksum128& checksum);

// A checksum of bytes that come in pieces. Value is std::uint64_t or Checksum128. The value may be
// asked for at any time and covers what came so far. Movable, not copyable; one thread at a time.
template <typename Value>
class ChecksumStream {
 public:
  ChecksumStream();
  void update(std::string_view bytes);
  Value value() const;

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

// The checksum of a file's bytes, read in pieces of 1 MiB. Throws FileError as FileSystem does.
Checksum128 file_checksum128(FileSystem& files, const std::string& path);

}  // namespace odb
