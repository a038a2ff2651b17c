#include "data/records/line_scanner.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/checksum.h"
#include "base/error.h"

namespace odb {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r';
}

// Whether the bytes before `begin` end with a line feed and blanks, or are blanks only.
bool starts_a_line(const DataFile& file, std::uint64_t begin, std::uint64_t skip) {
  char buffer[4096];
  while (begin > skip) {
    const std::uint64_t bytes = std::min<std::uint64_t>(begin - skip, sizeof buffer);
    if (file.read_at(begin - bytes, std::span(buffer).first(bytes)) != bytes) return false;
    for (std::uint64_t i = bytes; i > 0; --i)
      if (!is_blank(buffer[i - 1])) return buffer[i - 1] == '\n';
    begin -= bytes;
  }
  return true;
}

class Scan {
 public:
  explicit Scan(bool at_line_start) : at_line_start_(at_line_start) {}

  // The next bytes of the piece, the first of them `offset` bytes after its begin.
  void add(std::string_view bytes, std::uint64_t offset) {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    while (at < end) {
      if (at_line_start_) {
        while (at < end && is_blank(*at))
          ++at;
        if (at == end) return;
        if (*at != '\n')
          piece_.rows.push_back({.start = static_cast<std::uint32_t>(offset + (at - bytes.data())),
                                 .line_ends = static_cast<std::uint32_t>(piece_.line_ends)});
        at_line_start_ = false;
      }
      const void* const line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      if (line_end == nullptr) return;
      at = static_cast<const char*>(line_end) + 1;
      at_line_start_ = true;
      ++piece_.line_ends;
    }
  }

  ScannedPiece& piece() { return piece_; }

 private:
  bool at_line_start_;
  ScannedPiece piece_;
};

}  // namespace

ScannedPiece scan_lines(const DataFile& file, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t skip) {
  Scan scan(starts_a_line(file, begin, skip));
  ChecksumStream<std::uint64_t> checksum;
  std::vector<char> buffer(kBufferBytes);
  for (std::uint64_t at = begin; at < end; at += buffer.size()) {
    const auto size = std::min<std::uint64_t>(buffer.size(), end - at);
    if (file.read_at(at, std::span(buffer).first(size)) != size)
      throw DataError("{}: ends before byte {}; it was cut while it was indexed, try again",
                      file.path(), end);
    std::string_view bytes(buffer.data(), size);
    checksum.update(bytes);
    const std::uint64_t mark = at < skip ? std::min(skip - at, size) : 0;
    bytes.remove_prefix(mark);
    scan.add(bytes, at - begin + mark);
  }
  scan.piece().checksum = checksum.value();
  return std::move(scan.piece());
}

}  // namespace odb
