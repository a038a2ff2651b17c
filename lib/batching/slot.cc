#include "batching/slot.h"

#include <string>

#include "base/bytes.h"
#include "base/checksum.h"

namespace odb {
namespace {

void append(std::string& out, const SlotTotals& totals) {
  for (const std::int64_t value : {totals.supervised, totals.tokens, totals.samples,
                                   totals.supervised_groups, totals.left_out})
    append_little_endian(out, value);
}

}  // namespace

std::uint64_t round_checksum(std::span<const Slot> slots) {
  std::string bytes;
  for (const Slot& slot : slots) {
    append_little_endian(bytes, slot.number);
    append_little_endian(bytes, static_cast<std::uint8_t>(slot.kind));
    append_little_endian(bytes, static_cast<std::uint8_t>(slot.last_of_step));
    append(bytes, slot.totals);
    append_little_endian(bytes, static_cast<std::int64_t>(slot.group.rows.size()));
    for (const Item& item : slot.group.rows)
      append_little_endian(bytes, item.view);
  }
  return checksum64(bytes);
}

std::int64_t shared_checksum(std::int64_t epoch, std::int64_t number, SlotKind kind,
                             bool last_of_step, const SlotTotals& totals) {
  const bool has_group = kind == SlotKind::data || kind == SlotKind::idle;
  std::string bytes;
  append_little_endian(bytes, epoch);
  append_little_endian(bytes, number);
  append_little_endian(bytes, static_cast<std::uint8_t>(has_group ? SlotKind::data : kind));
  append_little_endian(bytes, static_cast<std::uint8_t>(last_of_step));
  append(bytes, totals);
  return static_cast<std::int64_t>(checksum64(bytes) >> 1);
}

}  // namespace odb
