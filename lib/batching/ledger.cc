#include "batching/ledger.h"

#include <optional>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"

namespace odb {
namespace {

constexpr std::string_view kMagic = "ODBLEDGR";
constexpr std::uint32_t kVersion = 2;
constexpr char kStepType = 1;
constexpr char kMarkerType = 2;
constexpr char kEpochEndType = 3;
constexpr std::size_t kLengthSize = sizeof(std::uint32_t);
constexpr std::size_t kHeaderSize = 2 * kLengthSize;
constexpr std::size_t kChecksumSize = sizeof(std::uint64_t);

std::string body_of(const StepRecord& record) {
  std::string body(1, record.ends_epoch ? kEpochEndType : kStepType);
  append_varint(body, record.life);
  append_varint(body, record.epoch);
  append_varint(body, record.step);
  append_varint(body, static_cast<std::int64_t>(record.trained.size()));
  for (const ViewId view : record.trained)
    append_varint(body, view);
  append_varint(body, static_cast<std::int64_t>(record.left_out.size()));
  for (const LeftOut& row : record.left_out) {
    append_varint(body, row.view);
    body.push_back(static_cast<char>(row.reason));
  }
  return body;
}

std::string body_of(const LifeMarker& marker) {
  std::string body(1, kMarkerType);
  append_varint(body, marker.life);
  append_varint(body, marker.world);
  append_varint(body, marker.resumed_step);
  append_varint(body, marker.resumed_epoch);
  return body;
}

// Reads a body with a correct checksum. An error in it still names its place.
class BodyReader {
 public:
  BodyReader(std::string_view body, const std::string& where) : body_(body, where), where_(where) {}

  std::int64_t varint() { return body_.read_varint(); }

  std::size_t count() {
    const std::int64_t found = varint();
    if (static_cast<std::uint64_t>(found) > body_.remaining())
      throw FileError("{}: a ledger record lists {} views in {} bytes", where_, found,
                      body_.remaining());
    return static_cast<std::size_t>(found);
  }

  LedgerRecord record() {
    const auto type = body_.read<char>();
    if (type == kStepType || type == kEpochEndType) {
      StepRecord record = step();
      record.ends_epoch = type == kEpochEndType;
      return record;
    }
    if (type == kMarkerType) {
      LifeMarker marker;
      marker.life = varint();
      marker.world = varint();
      marker.resumed_step = varint();
      marker.resumed_epoch = varint();
      return marker;
    }
    throw FileError(
        "{}: found a ledger record of type {}, expected {} (step), {} (marker) or {} "
        "(end of an epoch)",
        where_, static_cast<int>(type), static_cast<int>(kStepType), static_cast<int>(kMarkerType),
        static_cast<int>(kEpochEndType));
  }

 private:
  StepRecord step() {
    StepRecord record;
    record.life = varint();
    record.epoch = varint();
    record.step = varint();
    record.trained.resize(count());
    for (ViewId& view : record.trained)
      view = varint();
    record.left_out.resize(count());
    for (LeftOut& row : record.left_out) {
      row.view = varint();
      row.reason = static_cast<LeftOutReason>(body_.read<std::uint8_t>());
    }
    return record;
  }

  ByteReader body_;
  std::string where_;
};

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

// The body of the record that `rest` begins with; empty when the record is torn: it is cut off, or
// only zeros follow, because the file had grown but its bytes did not reach the disk.
std::optional<std::string_view> next_body(std::string_view rest, const std::string& place) {
  if (rest.size() < kHeaderSize) return std::nullopt;
  const auto length = read_little_endian<std::uint32_t>(rest);
  if (read_little_endian<std::uint32_t>(rest.substr(kLengthSize)) != ~length) {
    if (all_zero(rest.substr(kHeaderSize))) return std::nullopt;
    throw FileError("{}: the length of a record and its complement disagree; the ledger is damaged",
                    place);
  }
  const std::uint64_t whole = kHeaderSize + std::uint64_t{length} + kChecksumSize;
  if (rest.size() < whole) return std::nullopt;
  const std::string_view body = rest.substr(kHeaderSize, length);
  const auto expected = read_little_endian<std::uint64_t>(rest.substr(kHeaderSize + length));
  if (checksum64(body) == expected) return body;
  if (all_zero(rest.substr(whole))) return std::nullopt;
  throw FileError("{}: found checksum {}, expected {}; the ledger is damaged there", place,
                  to_hex(checksum64(body)), to_hex(expected));
}

}  // namespace

std::string ledger_header() {
  std::string header(kMagic);
  append_little_endian(header, kVersion);
  return header;
}

std::string serialize(const LedgerRecord& record) {
  const std::string body = std::visit([](const auto& r) { return body_of(r); }, record);
  std::string out;
  const auto length = static_cast<std::uint32_t>(body.size());
  append_little_endian(out, length);
  append_little_endian(out, ~length);
  out += body;
  append_little_endian(out, checksum64(body));
  return out;
}

std::uint64_t read_ledger(std::string_view bytes, const std::string& where,
                          const std::function<void(const LedgerRecord&)>& visit) {
  const std::string header = ledger_header();
  if (header.substr(0, bytes.size()) == bytes && bytes.size() < header.size()) return 0;  // torn
  if (bytes.substr(0, kMagic.size()) != kMagic)
    throw FileError("{}: does not begin with {}; expected a ledger of odb-trainer", where, kMagic);
  const auto version = read_little_endian<std::uint32_t>(bytes.substr(kMagic.size()));
  if (version != kVersion)
    throw FileError("{}: found ledger version {}, this odb-trainer reads version {}", where,
                    version, kVersion);
  std::size_t offset = header.size();
  while (offset < bytes.size()) {
    const std::string place = fmt::format("{}, offset {}", where, offset);
    const auto body = next_body(bytes.substr(offset), place);
    if (!body) break;
    visit(BodyReader(*body, place).record());
    offset += kHeaderSize + body->size() + kChecksumSize;
  }
  return offset;
}

}  // namespace odb
