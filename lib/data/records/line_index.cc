#include "data/records/line_index.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::uint64_t kBlockHead = 2 * sizeof(std::uint64_t);

std::uint64_t block_bytes(const IndexTrailer& trailer) {
  return kBlockHead + kRowsPerIndexBlock * trailer.distance_bytes;
}

template <typename Value>
Value load(const char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool is_sound(const IndexTrailer& trailer, std::uint64_t file_size) {
  const IndexTrailer wanted;
  if (std::memcmp(trailer.magic, wanted.magic, sizeof wanted.magic) != 0) return false;
  if (trailer.version != wanted.version || trailer.checksum != trailer_checksum(trailer))
    return false;
  if (trailer.distance_bytes != 4 && trailer.distance_bytes != 8) return false;
  const std::uint64_t blocks = (trailer.rows + kRowsPerIndexBlock - 1) / kRowsPerIndexBlock;
  return file_size == blocks * block_bytes(trailer) + sizeof(IndexTrailer);
}

}  // namespace

std::uint64_t trailer_checksum(const IndexTrailer& trailer) {
  return checksum64({reinterpret_cast<const char*>(&trailer), offsetof(IndexTrailer, checksum)});
}

std::optional<LineIndex> LineIndex::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status = {};
  const bool readable = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                        status.st_size >= static_cast<off_t>(sizeof(IndexTrailer));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  void* const mapping =
      readable ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  if (mapping == MAP_FAILED) return std::nullopt;
  const char* const bytes = static_cast<const char*>(mapping);
  LineIndex index(bytes, size, load<IndexTrailer>(bytes + size - sizeof(IndexTrailer)));
  if (!is_sound(index.trailer_, size)) return std::nullopt;
  return index;
}

LineIndex::LineIndex(LineIndex&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_), trailer_(other.trailer_) {}

LineIndex& LineIndex::operator=(LineIndex&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  bytes_ = std::exchange(other.bytes_, nullptr);
  size_ = other.size_;
  trailer_ = other.trailer_;
  return *this;
}

LineIndex::~LineIndex() {
  unmap();
}

void LineIndex::unmap() noexcept {
  if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
  bytes_ = nullptr;
}

const char* LineIndex::block(std::uint64_t row) const {
  return bytes_ + row / kRowsPerIndexBlock * block_bytes(trailer_);
}

std::uint64_t LineIndex::start(std::uint64_t row) const {
  const char* const from = block(row);
  const char* const distances = from + kBlockHead;
  const std::uint64_t place = row % kRowsPerIndexBlock;
  return load<std::uint64_t>(from) + (trailer_.distance_bytes == 4
                                          ? load<std::uint32_t>(distances + 4 * place)
                                          : load<std::uint64_t>(distances + 8 * place));
}

LineIndex::Range LineIndex::row(std::uint64_t row) const {
  ODB_CHECK_LT(row, trailer_.rows);
  return {.begin = start(row), .end = row + 1 < trailer_.rows ? start(row + 1) : trailer_.data_end};
}

LineIndex::KnownLine LineIndex::known_line(std::uint64_t row) const {
  ODB_CHECK_LT(row, trailer_.rows);
  const char* const from = block(row);
  return {.byte = load<std::uint64_t>(from), .line = load<std::uint64_t>(from + 8)};
}

}  // namespace odb
