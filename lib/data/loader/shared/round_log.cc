#include "data/loader/shared/round_log.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/loader/shared/loader_control.h"

namespace odb {
namespace {

constexpr std::size_t kWindowEntryBytes = 12;
constexpr std::size_t kLeftOutBytes = 9;
constexpr std::size_t kItemBytes = 16;
constexpr std::size_t kFixedBytes = 64 << 10;  // and room for the progressions of 2,000 restarts

// A window exceeds --window only while it is one group that could still grow; planned sources hold
// --round-groups batches. Neither holds more rows than there are views.
std::size_t max_window(const BatchingOptions& resolved, std::int64_t data_size) {
  const std::int64_t batch = std::max(resolved.l_max, resolved.batch_size);
  const std::int64_t window = std::max(resolved.window, resolved.round_groups * batch);
  return static_cast<std::size_t>(std::min(window, data_size));
}

}  // namespace

std::size_t max_round_bytes(const BatchingOptions& resolved, std::int64_t data_size) {
  return kFixedBytes + CrashedSamples::kMax * kLeftOutBytes +
         kWindowEntryBytes * max_window(resolved, data_size);
}

std::size_t max_refill_bytes(const BatchingOptions& resolved, std::int64_t data_size,
                             std::int64_t max_left_out) {
  // With --batching odb a window beyond --window is one open group: fewer than L_max samples more.
  const std::size_t window =
      max_window(resolved, data_size) + static_cast<std::size_t>(resolved.l_max);
  return 2 * sizeof(std::uint64_t) + kItemBytes * window +
         kLeftOutBytes * static_cast<std::size_t>(max_left_out);
}

RoundLog::RoundLog(const std::string& name, std::int64_t depth, std::size_t max_start_bytes,
                   std::size_t max_refill_bytes)
    : entries_(depth + 1),
      max_start_bytes_(aligned(max_start_bytes, sizeof(std::uint64_t))),
      max_refill_bytes_(max_refill_bytes),
      entry_bytes_(aligned(sizeof(Entry) + max_start_bytes_ + max_refill_bytes, kPage)),
      shared_(name + "-newest"),
      memory_(name, static_cast<std::size_t>(entries_) * entry_bytes_) {}

RoundLog::Entry& RoundLog::entry(std::int64_t ordinal) const {
  const auto index = static_cast<std::size_t>(ordinal % entries_);
  return memory_.objects<Entry>(index * entry_bytes_, 1).front();
}

RoundLog::Entry& RoundLog::saved_entry(std::int64_t ordinal) const {
  ODB_CHECK_GE(ordinal, 0);
  Entry& found = entry(ordinal);
  ODB_CHECK(found.ordinal.load(std::memory_order_acquire) == ordinal + 1,
            "the entry of round {} was overwritten by that of round {}", ordinal,
            found.ordinal.load() - 1);
  return found;
}

char* RoundLog::start_text(std::int64_t ordinal) const {
  return reinterpret_cast<char*>(&entry(ordinal) + 1);
}

char* RoundLog::refill_text(std::int64_t ordinal) const {
  return start_text(ordinal) + max_start_bytes_;
}

void RoundLog::save(const SavedRound& round) {
  Entry& into = entry(round.ordinal);
  if (into.ordinal.load(std::memory_order_acquire) != round.ordinal + 1) write(round, into);
  if (round.ordinal > newest()) shared_->newest.store(round.ordinal + 1, std::memory_order_release);
}

void RoundLog::write(const SavedRound& round, Entry& into) const {
  const std::string bytes = serialize(OwnedState{.owner = {}, .state = {.start = round.start}});
  ODB_CHECK_LE(bytes.size(), max_start_bytes_);
  into.ordinal.store(0, std::memory_order_release);
  into.refill_bytes = 0;
  into.has_checksum = 0;
  into.first_sequence = round.first_sequence;
  into.start_bytes = bytes.size();
  std::memcpy(start_text(round.ordinal), bytes.data(), bytes.size());
  into.ordinal.store(round.ordinal + 1, std::memory_order_release);
}

void RoundLog::save_refill(std::int64_t ordinal, const RefillRecord& record) {
  Entry& into = saved_entry(ordinal);
  const std::string bytes = serialize(record);
  ODB_CHECK_LE(bytes.size(), max_refill_bytes_);
  into.has_checksum = 0;
  into.refill_bytes = 0;
  std::memcpy(refill_text(ordinal), bytes.data(), bytes.size());
  into.refill_bytes.store(bytes.size(), std::memory_order_release);
}

std::optional<RefillRecord> RoundLog::load_refill(std::int64_t ordinal) const {
  const std::uint64_t bytes = saved_entry(ordinal).refill_bytes.load(std::memory_order_acquire);
  if (bytes == 0) return std::nullopt;
  ODB_CHECK_LE(bytes, max_refill_bytes_);
  return parse_refill_record({refill_text(ordinal), bytes}, "the recorded refill of a round");
}

void RoundLog::save_checksum(std::int64_t ordinal, std::uint64_t checksum) {
  Entry& into = saved_entry(ordinal);
  into.checksum = checksum;
  into.has_checksum.store(1, std::memory_order_release);
}

std::optional<std::uint64_t> RoundLog::load_checksum(std::int64_t ordinal) const {
  const Entry& from = saved_entry(ordinal);
  if (from.has_checksum.load(std::memory_order_acquire) == 0) return std::nullopt;
  return from.checksum;
}

void RoundLog::clear() {
  shared_.clear();
  memory_.clear();
}

SavedRound RoundLog::load(std::int64_t ordinal) const {
  const Entry& from = saved_entry(ordinal);
  ODB_CHECK_LE(from.start_bytes, max_start_bytes_);
  SavedRound round{.ordinal = ordinal, .first_sequence = from.first_sequence, .start = {}};
  round.start = parse_state({start_text(ordinal), from.start_bytes}, "the saved start of a round")
                    .state.start;
  return round;
}

}  // namespace odb
