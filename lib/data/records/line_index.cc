#include "data/records/line_index.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

namespace odb {
namespace {

std::uint64_t block_bytes(const IndexTrailer& trailer) {
  return kIndexBlockHead + kRowsPerIndexBlock * trailer.distance_bytes;
}

template <typename Value>
Value load(const char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool is_sound(const IndexTrailer& trailer, std::uint64_t file_size) {
  const IndexTrailer expected;
  if (std::memcmp(trailer.magic, expected.magic, sizeof expected.magic) != 0) return false;
  if (trailer.version != expected.version || trailer.checksum != trailer_checksum(trailer))
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
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  struct stat status = {};
  const bool readable = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                        status.st_size >= static_cast<off_t>(sizeof(IndexTrailer));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  void* const mapping =
      readable ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0) : MAP_FAILED;
  if (mapping == MAP_FAILED) return std::nullopt;
  const char* const bytes = static_cast<const char*>(mapping);
  LineIndex index(path, bytes, size, load<IndexTrailer>(bytes + size - sizeof(IndexTrailer)));
  if (!is_sound(index.trailer_, size)) return std::nullopt;
  return index;
}

LineIndex::LineIndex(LineIndex&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, nullptr)),
      size_(other.size_),
      trailer_(other.trailer_) {}

LineIndex& LineIndex::operator=(LineIndex&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  path_ = std::move(other.path_);
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

const char* LineIndex::sound_block(std::uint64_t row) const {
  ODB_CHECK_LT(row, trailer_.rows);
  const std::uint64_t bytes = block_bytes(trailer_);
  const char* const block = bytes_ + row / kRowsPerIndexBlock * bytes;
  constexpr std::uint64_t kOwn = sizeof(std::uint64_t);
  if (load<std::uint64_t>(block) != checksum64({block + kOwn, bytes - kOwn}))
    throw DataError(
        "{}: the index is damaged: its entry for row {} does not match its checksum; delete it, "
        "it will be rebuilt",
        path_, row);
  return block;
}

std::uint64_t LineIndex::start(const char* block, std::uint64_t row) const {
  const char* const distances = block + kIndexBlockHead;
  const std::uint64_t place = row % kRowsPerIndexBlock;
  return load<std::uint64_t>(block + 8) + (trailer_.distance_bytes == 4
                                               ? load<std::uint32_t>(distances + 4 * place)
                                               : load<std::uint64_t>(distances + 8 * place));
}

LineIndex::Range LineIndex::row(std::uint64_t row) const {
  const char* const block = sound_block(row);
  const std::uint64_t begin = start(block, row);
  const std::uint64_t next = row + 1;
  if (next >= trailer_.rows) return {.begin = begin, .end = trailer_.data_end};
  const bool same_block = next % kRowsPerIndexBlock != 0;
  return {.begin = begin, .end = start(same_block ? block : sound_block(next), next)};
}

LineIndex::KnownLine LineIndex::known_line(std::uint64_t row) const {
  const char* const block = sound_block(row);
  return {.byte = load<std::uint64_t>(block + 8), .line = load<std::uint64_t>(block + 16)};
}

}  // namespace odb
