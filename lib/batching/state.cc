#include "batching/state.h"

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"

namespace odb {
namespace {

constexpr std::string_view kMagic = "ODBSTATE";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumSize = sizeof(std::uint64_t);
constexpr std::int64_t kRampStart = 256;  // samples

void append(std::string& out, std::int64_t value) {
  append_little_endian(out, value);
}

void append(std::string& out, const SamplerPosition& position) {
  append(out, position.leftover_begin);
  append(out, position.leftover_end);
  append(out, static_cast<std::int64_t>(position.progressions.size()));
  for (const Progression& progression : position.progressions) {
    append(out, progression.start);
    append(out, progression.stride);
    append(out, progression.end);
  }
}

void append(std::string& out, const std::vector<LeftOut>& rows) {
  append(out, static_cast<std::int64_t>(rows.size()));
  for (const LeftOut& row : rows) {
    append_varint(out, row.view);
    append_little_endian(out, static_cast<std::uint8_t>(row.reason));
  }
}

void append(std::string& out, const RoundStart& start) {
  append(out, start.epoch);
  append(out, start.round);
  append(out, start.next_slot);
  append(out, start.sampler);
  append(out, static_cast<std::int64_t>(start.window.size()));
  for (const WindowEntry& entry : start.window) {
    append_varint(out, entry.view);
    append_varint(out, entry.sent_back);
  }
  append(out, start.fill_target);
  append(out, start.open_step.micro_steps);
  append(out, start.open_step.tokens);
  append(out, start.open_step.samples);
  append(out, start.known_bad);
}

// Reads what append() wrote.
class StateReader {
 public:
  StateReader(std::string_view bytes, const std::string& where)
      : bytes_(bytes, where), where_(where) {}

  std::int64_t number() { return bytes_.read<std::int64_t>(); }

  // A count of entries that take at least `min_size` bytes each.
  std::size_t count(std::size_t min_size) {
    const std::int64_t found = number();
    if (found < 0 || static_cast<std::uint64_t>(found) > bytes_.remaining() / min_size)
      throw FileError(
          "{}: found a list of {} entries in the remaining {} bytes; the state is damaged", where_,
          found, bytes_.remaining());
    return static_cast<std::size_t>(found);
  }

  std::string text() { return std::string(bytes_.read_bytes(count(1))); }

  SamplerPosition position() {
    SamplerPosition position;
    position.leftover_begin = number();
    position.leftover_end = number();
    position.progressions.resize(count(3 * sizeof(std::int64_t)));
    for (Progression& progression : position.progressions) {
      progression.start = number();
      progression.stride = number();
      progression.end = number();
    }
    return position;
  }

  std::vector<ViewId> views() {
    std::vector<ViewId> views(count(1));
    for (ViewId& view : views)
      view = bytes_.read_varint();
    return views;
  }

  std::vector<LeftOut> left_out() {
    std::vector<LeftOut> rows(count(2));
    for (LeftOut& row : rows) {
      row.view = bytes_.read_varint();
      row.reason = static_cast<LeftOutReason>(bytes_.read<std::uint8_t>());
    }
    return rows;
  }

  RoundStart start() {
    RoundStart start;
    start.epoch = number();
    start.round = number();
    start.next_slot = number();
    start.sampler = position();
    start.window.resize(count(2));
    for (WindowEntry& entry : start.window) {
      entry.view = bytes_.read_varint();
      entry.sent_back = bytes_.read_varint();
    }
    start.fill_target = number();
    start.open_step.micro_steps = number();
    start.open_step.tokens = number();
    start.open_step.samples = number();
    start.known_bad = left_out();
    return start;
  }

  void expect_end() const {
    if (bytes_.remaining() != 0)
      throw FileError("{}: {} bytes follow the state; the file is damaged", where_,
                      bytes_.remaining());
  }

 private:
  ByteReader bytes_;
  std::string where_;
};

// The body between header and checksum. FileError: not a state, another version, damaged.
std::string_view checked_body(std::string_view bytes, const std::string& where) {
  const std::size_t header = kMagic.size() + sizeof(kVersion);
  if (bytes.size() < header + kChecksumSize || bytes.substr(0, kMagic.size()) != kMagic)
    throw FileError("{}: {} bytes that do not begin with {}; expected a data state of odb-trainer",
                    where, bytes.size(), kMagic);
  const auto version = read_little_endian<std::uint32_t>(bytes.substr(kMagic.size()));
  if (version != kVersion)
    throw FileError(
        "{}: found data state version {}, this odb-trainer reads version {}; continue with the "
        "release that wrote it",
        where, version, kVersion);
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumSize);
  const auto expected = read_little_endian<std::uint64_t>(bytes.substr(covered.size()));
  if (checksum64(covered) != expected)
    throw FileError("{}: found checksum {}, expected {}; the data state is damaged", where,
                    to_hex(checksum64(covered)), to_hex(expected));
  return covered.substr(header);
}

// The entries of `a` that `b` does not have; both are "name=value name=value ...".
std::string words_not_in(std::string_view a, std::string_view b) {
  std::string found;
  const std::string other = fmt::format(" {} ", b);
  for (std::size_t begin = 0; begin < a.size();) {
    const std::size_t end = std::min(a.find(' ', begin), a.size());
    const std::string_view word = a.substr(begin, end - begin);
    if (other.find(fmt::format(" {} ", word)) == std::string::npos)
      found += fmt::format("{}--{}", found.empty() ? "" : ", ", word);
    begin = end + 1;
  }
  return found;
}

}  // namespace

DataState state_after(const RoundStart& start, std::span<const Slot> slots) {
  DataState state{.start = start};
  state.slots_taken = static_cast<std::int64_t>(slots.size());
  for (const Slot& slot : slots) {
    ODB_CHECK_EQ(slot.round, start.round);
    for (const Item& item : slot.group.rows)
      state.taken.push_back(item.view);
    state.left_out.insert(state.left_out.end(), slot.left_out.begin(), slot.left_out.end());
  }
  return state;
}

void check_replayed(const DataState& state, std::span<const Slot> slots) {
  if (static_cast<std::int64_t>(slots.size()) < state.slots_taken)
    throw DataError(
        "{} slots of round {} were taken when the state was saved, and the round has {} now: the "
        "data, tokenizer or template has changed since",
        state.slots_taken, state.start.round, slots.size());
  const std::span<const Slot> taken = slots.first(static_cast<std::size_t>(state.slots_taken));
  const DataState replayed = state_after(state.start, taken);
  const auto [saved, found] = std::mismatch(state.taken.begin(), state.taken.end(),
                                            replayed.taken.begin(), replayed.taken.end());
  if (saved == state.taken.end() && found == replayed.taken.end()) return;
  const ViewId view = saved != state.taken.end() ? *saved : *found;
  throw DataError(
      "the first {} slots of round {} held {} samples when the state was saved and hold {} now; "
      "the first difference is sample {}: the data, tokenizer or template has changed since",
      state.slots_taken, state.start.round, state.taken.size(), replayed.taken.size(), view);
}

RoundStart first_round(const BatchingOptions& resolved, std::int64_t positions, int rank, int world,
                       std::int64_t epoch) {
  if (!resolved.join && positions < world)
    throw UsageError(
        "--join off and --batching {} with {} {} on {} ranks: a rank without any would end the "
        "epoch immediately; use --join on or at most {} ranks",
        name(resolved.strategy), positions, plans_epoch(resolved.strategy) ? "batches" : "samples",
        world, positions);
  RoundStart start;
  start.epoch = epoch;
  start.sampler = first_position(positions, rank, world);
  start.fill_target = first_fill_target(resolved.window);
  return start;
}

std::string serialize(const OwnedState& state) {
  std::string out(kMagic);
  append_little_endian(out, kVersion);
  append(out, state.owner.rank);
  append(out, state.owner.world);
  append_little_endian(out, state.owner.seed);
  append(out, state.owner.data_size);
  append(out, static_cast<std::int64_t>(state.owner.options.size()));
  out += state.owner.options;
  append(out, state.state.start);
  append(out, state.state.slots_taken);
  append(out, static_cast<std::int64_t>(state.state.taken.size()));
  for (const ViewId view : state.state.taken)
    append_varint(out, view);
  append(out, state.state.left_out);
  append_little_endian(out, checksum64(out));
  return out;
}

OwnedState parse_state(std::string_view bytes, const std::string& where) {
  StateReader reader(checked_body(bytes, where), where);
  OwnedState result;
  result.owner.rank = static_cast<int>(reader.number());
  result.owner.world = static_cast<int>(reader.number());
  result.owner.seed = static_cast<std::uint64_t>(reader.number());
  result.owner.data_size = reader.number();
  result.owner.options = reader.text();
  result.state.start = reader.start();
  result.state.slots_taken = reader.number();
  result.state.taken = reader.views();
  result.state.left_out = reader.left_out();
  reader.expect_end();
  return result;
}

void check_same_run(const StateOwner& saved, const StateOwner& running, const std::string& where) {
  if (saved.seed != running.seed)
    throw UsageError("{}: saved with --seed {}, now {}; continue with --seed {}", where, saved.seed,
                     running.seed, saved.seed);
  if (saved.data_size != running.data_size)
    throw UsageError(
        "{}: saved with data of {} samples, the data now has {}; continue with the data that the "
        "run began with, or start a new run",
        where, saved.data_size, running.data_size);
  if (saved.options != running.options)
    throw UsageError("{}: saved with {}, now {}; continue with the saved options", where,
                     words_not_in(saved.options, running.options),
                     words_not_in(running.options, saved.options));
}

std::int64_t first_fill_target(std::int64_t window) {
  return std::min(kRampStart, window);
}

std::int64_t next_fill_target(std::int64_t target, std::int64_t window) {
  return std::min(2 * target, window);
}

}  // namespace odb
