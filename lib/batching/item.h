// What batching knows of a sample: which one it is, and its length after preprocessing.
#pragma once

#include <cstdint>

namespace odb {

// The number of a record in the data set, 0..N-1. Within one epoch it names a view.
using ViewId = std::int64_t;

// A sample of known length. Lengths are tokens after preprocessing.
struct Item {
  ViewId view = 0;
  std::int32_t length = 0;      // >= 1
  std::int32_t supervised = 0;  // tokens that enter the loss, >= 1

  friend bool operator==(const Item&, const Item&) = default;
};

// Why a drawn view does not enter training. The numbers are written to ledgers: do not change them.
enum class LeftOutReason : std::uint8_t {
  none = 0,                 // it does
  bad_record = 1,           // could not be read or preprocessed
  no_supervised_token = 2,  // nothing to learn from
  crashed_worker = 3,       // the worker died or hung on it twice
  // Found by inspect, and recorded as no_supervised_token:
  empty = 4,     // a conversation without messages, an empty text
  cut_away = 5,  // its answers lie after the cutoff length
};

// The reason that ledgers and slots carry for it.
constexpr LeftOutReason recorded_reason(LeftOutReason reason) {
  const bool detail = reason == LeftOutReason::empty || reason == LeftOutReason::cut_away;
  return detail ? LeftOutReason::no_supervised_token : reason;
}

struct LeftOut {
  ViewId view = 0;
  LeftOutReason reason = LeftOutReason::bad_record;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

// "bad record", "no supervised token", ...; empty for none. InternalError: a number without a
// meaning.
const char* name(LeftOutReason reason);

}  // namespace odb
