// The position of a rank in its epoch as plain values: enough to continue with the identical
// sequence of slots, on the same number of ranks or (redeal.h) another.
//
// A position is the start of a round plus how many of its slots are taken (part of a finished
// step). Only ids are saved: lengths are known again when the views are drawn again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batching/item.h"
#include "batching/sampler.h"
#include "batching/slot.h"
#include "batching/step_bounds.h"

namespace odb {

struct WindowEntry {
  ViewId view = 0;
  std::int64_t sent_back = 0;  // rounds in which it was in the window and was not emitted

  friend bool operator==(const WindowEntry&, const WindowEntry&) = default;
};

// The start of a round, before its refill.
struct RoundStart {
  std::int64_t epoch = 0;
  std::int64_t round = 0;      // of the epoch, from 0
  std::int64_t next_slot = 0;  // number of the round's first slot
  SamplerPosition sampler;
  std::vector<WindowEntry> window;  // in draw order; empty for strategies that send nothing back
  std::int64_t fill_target = 0;     // samples to fill to; rises in the first rounds of an epoch
  OpenStep open_step;
  std::vector<LeftOut> known_bad;  // views that are not tried again (a worker died on them)

  friend bool operator==(const RoundStart&, const RoundStart&) = default;
};

// The first round's fill target, and that of the round after `target`.
std::int64_t first_fill_target(std::int64_t window);
std::int64_t next_fill_target(std::int64_t target, std::int64_t window);

// The data position of a rank at the end of a step.
struct DataState {
  RoundStart start;
  std::int64_t slots_taken = 0;   // of that round; possibly all
  std::vector<ViewId> taken;      // views of those slots on this rank, in slot order
  std::vector<LeftOut> left_out;  // rows left out in that round's refill; empty if none taken

  friend bool operator==(const DataState&, const DataState&) = default;
};

// The data state at the end of `slots`, the first slots (one or more) of the round that began at
// `start`.
DataState state_after(const RoundStart& start, std::span<const Slot> slots);

// After a restore on the same ranks: the replayed round's first slots must hold the views that the
// state lists as taken. DataError naming the first view that differs: the data has changed.
void check_replayed(const DataState& state, std::span<const Slot> slots);

// The run that a state belongs to. It is continued only with the same seed, data and options.
struct StateOwner {
  int rank = 0;
  int world = 1;
  std::uint64_t seed = 0;
  std::int64_t data_size = 0;  // N, views of an epoch
  std::string options;         // options_fingerprint

  friend bool operator==(const StateOwner&, const StateOwner&) = default;
};

struct OwnedState {
  StateOwner owner;
  DataState state;
};

// The start of epoch `epoch` of a rank. `positions` are what the sampler draws: samples, or batches
// of strategies that plan them. UsageError: fewer than ranks without join.
RoundStart first_round(const BatchingOptions& resolved, std::int64_t positions, int rank, int world,
                       std::int64_t epoch);

// Bytes: magic, version, owner, state, checksum; little-endian; views and sent_back as varints.
// Below 64 KiB at a window of 1,024 and L_max 8,192, for any lengths, below 2^35 samples.
std::string serialize(const OwnedState& state);

// `where` names the source (a path) in messages. FileError: not a state, damaged, or written by
// another version.
OwnedState parse_state(std::string_view bytes, const std::string& where);

// Throws UsageError that names what differs (seed, data size, options) and what to do. Does not
// compare rank and world.
void check_same_run(const StateOwner& saved, const StateOwner& running, const std::string& where);

}  // namespace odb
