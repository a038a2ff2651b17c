// The ledger: which views a rank trained or left out in every finished step, as bytes.
//
// A file is the header "ODBLEDGR" + version, then records: length and its complement (u32 each),
// body, XXH3-64 of the body, little-endian. A body begins with its type:
//   1  a step     life, epoch, step, n, n view ids, m, m x (view id, reason)
//   2  a marker   life, world, resumed step, resumed epoch: what earlier lives did beyond these is
//                 void in all ranks' files (written by rank 0 only)
//   3  the end of an epoch, as a step: rows left out after its last one
// Integers in bodies are varints (base/bytes.h). A process that dies while appending leaves a torn
// last record; after a machine crash zeros may stand in place of its end. Everything before it is
// valid; the rest must be cut off.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "batching/item.h"

namespace odb {

struct StepRecord {
  std::int64_t life = 0;  // number of the process life, counted from 0
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::vector<ViewId> trained;
  std::vector<LeftOut> left_out;
  bool ends_epoch = false;  // the end of the epoch, after step `step`; nothing is trained

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

struct LifeMarker {
  std::int64_t life = 0;
  std::int64_t world = 0;
  std::int64_t resumed_step = 0;   // steps up to it stay valid, also those of earlier lives
  std::int64_t resumed_epoch = 0;  // the ends of the epochs before it do, too

  friend bool operator==(const LifeMarker&, const LifeMarker&) = default;
};

using LedgerRecord = std::variant<StepRecord, LifeMarker>;

// The first bytes of a new file.
std::string ledger_header();

// The bytes to append for a record.
std::string serialize(const LedgerRecord& record);

// Calls `visit` for each record in order. Returns how many bytes are valid: fewer than
// bytes.size() when the last record is torn. FileError, naming `where` and the offset: not a
// ledger, another version, or damage before the last record.
std::uint64_t read_ledger(std::string_view bytes, const std::string& where,
                          const std::function<void(const LedgerRecord&)>& visit);

}  // namespace odb
