// The result of a round's refill: enough to form the round again without preparing its samples
// again. A collate records it before it enters the round's first all-reduce, so that its successor
// offers the same groups even if samples have turned bad meanwhile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batching/item.h"

namespace odb {

struct RefillRecord {
  std::vector<Item> items;        // the window after the refill, in draw order
  std::vector<LeftOut> left_out;  // rows left out in the refill, in draw order

  friend bool operator==(const RefillRecord&, const RefillRecord&) = default;
};

// Bytes: two counts, then varints per row; 16 or fewer per item and 6 or fewer per left-out row
// below 2^35 samples.
std::string serialize(const RefillRecord& record);

// FileError: not a record, or damaged. `where` names the source in messages.
RefillRecord parse_refill_record(std::string_view bytes, const std::string& where);

}  // namespace odb
