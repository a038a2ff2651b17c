#include "base/checksum.h"

#include <new>
#include <type_traits>

#include "base/error.h"
#include "base/files.h"

namespace odb {
namespace {

// The two widths have the same state and differ in the calls.
struct Calls64 {
  static constexpr auto kReset = XXH3_64bits_reset;
  static constexpr auto kUpdate = XXH3_64bits_update;
  static std::uint64_t digest(const XXH3_state_t* state) { return XXH3_64bits_digest(state); }
};

struct Calls128 {
  static constexpr auto kReset = XXH3_128bits_reset;
  static constexpr auto kUpdate = XXH3_128bits_update;
  static Checksum128 digest(const XXH3_state_t* state) {
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    return {.high = hash.high64, .low = hash.low64};
  }
};

template <typename Value>
using CallsFor = std::conditional_t<std::is_same_v<Value, Checksum128>, Calls128, Calls64>;

}  // namespace

std::uint64_t checksum64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Checksum128 checksum128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

std::string to_hex(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

std::string to_hex(const Checksum128& checksum) {
  return to_hex(checksum.high) + to_hex(checksum.low);
}

template <typename Value>
ChecksumStream<Value>::ChecksumStream() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  ODB_CHECK_EQ(CallsFor<Value>::kReset(state_.get()), XXH_OK);
}

template <typename Value>
void ChecksumStream<Value>::update(std::string_view bytes) {
  if (bytes.empty()) return;
  ODB_CHECK_EQ(CallsFor<Value>::kUpdate(state_.get(), bytes.data(), bytes.size()), XXH_OK);
}

template <typename Value>
Value ChecksumStream<Value>::value() const {
  return CallsFor<Value>::digest(state_.get());
}

template class ChecksumStream<std::uint64_t>;
template class ChecksumStream<Checksum128>;

Checksum128 file_checksum128(FileSystem& files, const std::string& path) {
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  const InputFile file = files.open(path);
  ChecksumStream<Checksum128> stream;
  std::string piece(kPiece, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = file.read_at(offset, piece);
    stream.update({piece.data(), count});
    if (count < piece.size()) return stream.value();
    offset += count;
  }
}

}  // namespace odb
