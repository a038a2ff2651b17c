#include "data/records/index_builder.h"

#include <algorithm>
#include <deque>
#include <future>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/records/array_scanner.h"
#include "data/records/file_kind.h"
#include "data/records/index_writer.h"
#include "data/records/line_scanner.h"

namespace odb {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

std::uint64_t byte_order_mark_bytes(const DataFile& file) {
  char head[kByteOrderMark.size()];
  const std::string_view found(head, file.read_at(0, head));
  return found == kByteOrderMark ? kByteOrderMark.size() : 0;
}

int thread_count(const IndexBuild& build) {
  if (build.threads > 0) return build.threads;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U));
}

// What a scan leaves for the trailer.
struct Scanned {
  std::uint64_t data_end = 0;
  std::vector<std::uint64_t> piece_checksums;
  bool fits = true;  // false: the index needs wider distances
};

// Pieces are scanned ahead on their own threads and joined here in file order.
Scanned scan_lines_into(IndexWriter& writer, const DataFile& file, const IndexBuild& build) {
  const std::uint64_t skip = byte_order_mark_bytes(file);
  Scanned scanned{.data_end = file.size()};
  std::deque<std::future<ScannedPiece>> ahead;
  const auto max_ahead = static_cast<std::size_t>(thread_count(build)) + 1;
  std::uint64_t next = 0;
  std::uint64_t lines_before = 1;
  for (std::uint64_t begin = 0; begin < file.size() && scanned.fits; begin += kPieceBytes) {
    for (; next < file.size() && ahead.size() < max_ahead; next += kPieceBytes)
      ahead.push_back(std::async(std::launch::async, [&file, skip, next] {
        return scan_lines(file, next, std::min(next + kPieceBytes, file.size()), skip);
      }));
    const ScannedPiece piece = ahead.front().get();
    ahead.pop_front();
    for (const ScannedPiece::Row& row : piece.rows)
      if (!writer.add(begin + row.start, lines_before + row.line_ends)) scanned.fits = false;
    lines_before += piece.line_ends;
    scanned.piece_checksums.push_back(piece.checksum);
    if (build.progress) build.progress(std::min(begin + kPieceBytes, file.size()), file.size());
  }
  return scanned;
}

Scanned scan_array_into(IndexWriter& writer, const DataFile& file, const IndexBuild& build) {
  const std::uint64_t skip = byte_order_mark_bytes(file);
  Scanned scanned;
  ArrayScanner scanner(file.path(), [&](std::uint64_t first_byte, std::uint64_t line) {
    if (!writer.add(first_byte, line)) scanned.fits = false;
  });
  std::vector<char> buffer(kReadBytes);
  for (std::uint64_t begin = 0; begin < file.size() && scanned.fits; begin += kPieceBytes) {
    ChecksumStream<std::uint64_t> checksum;
    const std::uint64_t end = std::min(begin + kPieceBytes, file.size());
    for (std::uint64_t at = begin; at < end; at += buffer.size()) {
      const auto size = std::min<std::uint64_t>(buffer.size(), end - at);
      const std::string_view bytes(buffer.data(), file.read_at(at, std::span(buffer).first(size)));
      checksum.update(bytes);
      const std::uint64_t mark = std::min<std::uint64_t>(at == 0 ? skip : 0, bytes.size());
      scanner.add(bytes.substr(mark), at + mark);
    }
    scanned.piece_checksums.push_back(checksum.value());
    if (build.progress) build.progress(end, file.size());
  }
  if (scanned.fits) scanned.data_end = scanner.finish();
  return scanned;
}

}  // namespace

RecordLayout detect_layout(const DataFile& file) {
  for (const std::string_view suffix : {".jsonl", ".ndjson"})
    if (has_ending(file.path(), suffix)) return RecordLayout::lines;
  std::vector<char> buffer(kReadBytes);
  for (std::uint64_t at = byte_order_mark_bytes(file); at < file.size(); at += buffer.size()) {
    const std::string_view bytes(buffer.data(), file.read_at(at, buffer));
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos)
      return bytes[first] == '[' ? RecordLayout::array : RecordLayout::lines;
  }
  return RecordLayout::lines;
}

void build_index(FileSystem& files, const DataFile& file, const std::string& path,
                 const IndexBuild& build) {
  const RecordLayout layout = detect_layout(file);
  for (const std::uint32_t distance_bytes : {4U, 8U}) {
    IndexWriter writer(files, path, distance_bytes);
    const Scanned scanned = layout == RecordLayout::lines ? scan_lines_into(writer, file, build)
                                                          : scan_array_into(writer, file, build);
    if (!scanned.fits) continue;
    file.check_unchanged();
    const auto& sums = scanned.piece_checksums;
    writer.commit({.layout = layout,
                   .data_end = scanned.data_end,
                   .stamp = file.stamp(),
                   .fingerprint = file.fingerprint(),
                   .content = checksum128({reinterpret_cast<const char*>(sums.data()),
                                           sums.size() * sizeof(std::uint64_t)})});
    return;
  }
}

}  // namespace odb
