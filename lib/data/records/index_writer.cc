#include "data/records/index_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checksum.h"

namespace odb {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;

template <typename Value>
void put(std::string& into, Value value) {
  into.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

IndexWriter::IndexWriter(FileSystem& files, const std::string& path, std::uint32_t distance_bytes)
    : file_(files.create(path)), distance_bytes_(distance_bytes) {}

bool IndexWriter::add(std::uint64_t first_byte, std::uint64_t line) {
  const std::uint64_t place = rows_ % kRowsPerIndexBlock;
  if (place == 0) {
    if (rows_ > 0) write_block();
    block_first_byte_ = first_byte;
    block_first_line_ = line;
  }
  const std::uint64_t distance = first_byte - block_first_byte_;
  if (distance_bytes_ == 4 && distance > std::numeric_limits<std::uint32_t>::max()) return false;
  distances_[place] = distance;
  if (rows_ > 0) longest_row_ = std::max(longest_row_, first_byte - last_start_);
  last_start_ = first_byte;
  ++rows_;
  return true;
}

void IndexWriter::write_block() {
  const std::size_t begin = pending_.size();
  put(pending_, std::uint64_t{0});
  put(pending_, block_first_byte_);
  put(pending_, block_first_line_);
  for (const std::uint64_t distance : distances_) {
    if (distance_bytes_ == 4)
      put(pending_, static_cast<std::uint32_t>(distance));
    else
      put(pending_, distance);
  }
  const std::uint64_t checksum =
      checksum64(std::string_view(pending_).substr(begin + sizeof(std::uint64_t)));
  std::memcpy(pending_.data() + begin, &checksum, sizeof checksum);
  distances_.fill(0);
  if (pending_.size() < kWriteBytes) return;
  file_.write(pending_);
  pending_.clear();
}

void IndexWriter::commit(IndexTrailer trailer) {
  if (rows_ > 0) {
    write_block();
    longest_row_ = std::max(longest_row_, trailer.data_end - last_start_);
  }
  trailer.distance_bytes = distance_bytes_;
  trailer.rows = rows_;
  trailer.longest_row = longest_row_;
  trailer.checksum = trailer_checksum(trailer);
  put(pending_, trailer);
  file_.write(pending_);
  file_.sync();
  file_.close();
}

}  // namespace odb
