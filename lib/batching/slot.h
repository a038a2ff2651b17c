// A slot: one micro-step that all ranks share; every rank has a group or is idle.
//
// Slots are the output of batching. Slot numbers, kind, totals and last_of_step are equal on all
// ranks; group and left_out are the rank's own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batching/group.h"
#include "batching/item.h"

namespace odb {

enum class SlotKind : std::uint8_t {
  data,     // this rank has a group
  idle,     // another rank has one: take part in every collective with a zero gradient
  closing,  // idle on every rank: ends a step that was open when the epoch ended
  end,      // the epoch is over: nothing to compute, carries the last left-out rows
};

// Sums over all ranks of one slot (or of all slots of a step).
struct SlotTotals {
  std::int64_t supervised = 0;  // tokens that enter the loss
  std::int64_t tokens = 0;      // real tokens
  std::int64_t samples = 0;
  std::int64_t supervised_groups = 0;  // ranks that hold a group with supervised tokens
  std::int64_t left_out = 0;           // rows; counted only with the first slot of their round

  void add(const SlotTotals& other) {
    supervised += other.supervised;
    tokens += other.tokens;
    samples += other.samples;
    supervised_groups += other.supervised_groups;
    left_out += other.left_out;
  }
  friend bool operator==(const SlotTotals&, const SlotTotals&) = default;
};

struct Slot {
  std::int64_t number = 0;          // from 0 through the run's epoch
  std::int64_t round = 0;           // the round that it belongs to
  std::int64_t index_in_round = 0;  // 0..T-1
  SlotKind kind = SlotKind::idle;
  bool last_of_step = false;  // an optimizer step follows this micro-step
  bool over_budget =
      false;  // the group takes more than L_max: one long sample, or a fixed batch size
  SlotTotals totals;
  Group group;                    // empty but for kind data
  std::vector<LeftOut> left_out;  // rows left out in the refill of this round: first slot only

  friend bool operator==(const Slot&, const Slot&) = default;
};

// Covers everything that the trainer sees of a round on this rank: T, kinds, totals and the views
// of its groups. A round that is formed again must have the same checksum.
std::uint64_t round_checksum(std::span<const Slot> slots);

// Covers what all ranks must agree on in a slot: its place, whether it ends step or epoch, and its
// totals. >= 0. Ranks compare it before they train the slot.
std::int64_t shared_checksum(std::int64_t epoch, std::int64_t number, SlotKind kind,
                             bool last_of_step, const SlotTotals& totals);

}  // namespace odb
