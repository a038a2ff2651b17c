#include "batching/refill_record.h"

#include <cstdint>

#include "base/bytes.h"

namespace odb {

std::string serialize(const RefillRecord& record) {
  std::string out;
  append_varint(out, static_cast<std::int64_t>(record.items.size()));
  append_varint(out, static_cast<std::int64_t>(record.left_out.size()));
  for (const Item& item : record.items) {
    append_varint(out, item.view);
    append_varint(out, item.length);
    append_varint(out, item.supervised);
  }
  for (const LeftOut& row : record.left_out) {
    append_varint(out, row.view);
    append_little_endian(out, static_cast<std::uint8_t>(row.reason));
  }
  return out;
}

RefillRecord parse_refill_record(std::string_view bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  const std::int64_t items = reader.read_varint();
  const std::int64_t left_out = reader.read_varint();
  RefillRecord record;
  // Not reserved: a damaged count must not ask for memory.
  for (std::int64_t i = 0; i < items; ++i) {
    Item& item = record.items.emplace_back();
    item.view = reader.read_varint();
    item.length = static_cast<std::int32_t>(reader.read_varint());
    item.supervised = static_cast<std::int32_t>(reader.read_varint());
  }
  for (std::int64_t i = 0; i < left_out; ++i) {
    LeftOut& row = record.left_out.emplace_back();
    row.view = reader.read_varint();
    row.reason = static_cast<LeftOutReason>(reader.read<std::uint8_t>());
  }
  return record;
}

}  // namespace odb
