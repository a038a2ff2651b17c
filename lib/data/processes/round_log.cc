#include "data/processes/round_log.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/processes/lane_control.h"

namespace odb {
namespace {

constexpr std::size_t kWindowEntryBytes = 12;
constexpr std::size_t kLeftOutBytes = 9;
constexpr std::size_t kFixedBytes = 64 << 10;  // and room for the progressions of 2,000 restarts

}  // namespace

// A window grows beyond --window only while it is one group that could still grow; planned batches
// wait --round-groups at a time. Neither ever holds more rows than there are views.
std::size_t most_round_bytes(const BatchingOptions& resolved, std::int64_t data_size) {
  const std::int64_t batch = std::max(resolved.l_max, resolved.batch_size);
  const std::int64_t window = std::max(resolved.window, resolved.round_groups * batch);
  return kFixedBytes + CrashedSamples::kMost * kLeftOutBytes +
         kWindowEntryBytes * static_cast<std::size_t>(std::min(window, data_size));
}

RoundLog::RoundLog(const std::string& name, std::int64_t depth, std::size_t most_bytes)
    : entries_(depth + 1),
      entry_bytes_(aligned(sizeof(Entry) + most_bytes, kPage)),
      shared_(name + "-newest"),
      memory_(name, static_cast<std::size_t>(entries_) * entry_bytes_) {}

RoundLog::Entry& RoundLog::entry(std::int64_t ordinal) const {
  const auto index = static_cast<std::size_t>(ordinal % entries_);
  return memory_.objects<Entry>(index * entry_bytes_, 1).front();
}

char* RoundLog::text(std::int64_t ordinal) const {
  return reinterpret_cast<char*>(&entry(ordinal) + 1);
}

void RoundLog::save(const SavedRound& round) {
  Entry& into = entry(round.ordinal);
  if (into.ordinal.load(std::memory_order_acquire) != round.ordinal + 1) write(round, into);
  if (round.ordinal > newest()) shared_->newest.store(round.ordinal + 1, std::memory_order_release);
}

void RoundLog::write(const SavedRound& round, Entry& into) const {
  const std::string bytes = serialise(OwnedState{.owner = {}, .state = {.start = round.start}});
  ODB_CHECK_LE(sizeof(Entry) + bytes.size(), entry_bytes_);
  into.ordinal.store(0, std::memory_order_release);
  into.first_position = round.first_position;
  into.bytes = bytes.size();
  std::memcpy(text(round.ordinal), bytes.data(), bytes.size());
  into.ordinal.store(round.ordinal + 1, std::memory_order_release);
}

void RoundLog::clear() {
  shared_.clear();
  memory_.clear();
}

SavedRound RoundLog::load(std::int64_t ordinal) const {
  const Entry& from = entry(ordinal);
  ODB_CHECK(ordinal >= 0 && from.ordinal.load(std::memory_order_acquire) == ordinal + 1,
            "the start of round {} was overwritten by that of round {}", ordinal,
            from.ordinal.load() - 1);
  ODB_CHECK_LE(sizeof(Entry) + from.bytes, entry_bytes_);
  SavedRound round{.ordinal = ordinal, .first_position = from.first_position, .start = {}};
  round.start = parse_state({text(ordinal), from.bytes}, "the saved start of a round").state.start;
  return round;
}

}  // namespace odb
