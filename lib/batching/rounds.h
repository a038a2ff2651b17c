// A rank's part in each round: fill, offer, agree, total.
//
//   while (rounds.filling()) rounds.deliver(...)      draw and preprocess upcoming() in order
//   maxima = all-reduce MAX of rounds.offer()         8 numbers for any W
//   sums = all-reduce SUM of rounds.agree(maxima)     5 numbers per slot; empty: no second reduce
//   slots = rounds.total(sums)                        the round's slots, equal in number everywhere
//
// No I/O, no clock, no thread: the sequence of slots is a function of data, options, seed, epoch
// and W. Ends the epoch with a closing slot when a step is open, then an end slot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "batching/group_source.h"
#include "batching/options.h"
#include "batching/peers.h"
#include "batching/refill_record.h"
#include "batching/slot.h"
#include "batching/state.h"
#include "batching/step_bounds.h"

namespace odb {

// Identifies the rank and the run. All members but `rank` are equal on all ranks.
struct RunShape {
  int rank = 0;
  int world = 1;
  std::uint64_t seed = 0;
  std::int64_t data_size = 0;
};

class Rounds {
 public:
  // Continues at `start`. `options` are resolved; `source` was made from the same start.
  Rounds(const RunShape& shape, const BatchingOptions& options, const RoundStart& start,
         std::unique_ptr<GroupSource> source);

  // The position before the current round's refill: save it before the first deliver().
  const RoundStart& start() const { return start_; }

  // Filling, as the source defines it. A delivered item without supervised tokens is left out with
  // its reason. DataError: a length below 1; InternalError: not the view upcoming(1).
  std::vector<ViewId> upcoming(std::int64_t limit) const { return source_->upcoming(limit); }
  bool filling() const { return !ended_ && source_->filling(); }
  void deliver(const Item& item);
  void leave_out(const LeftOut& row);
  // A view on which a worker died twice. It is part of start() from now on, and the caller leaves
  // it out without trying it (is_known_bad).
  void remember_bad(const LeftOut& row);
  bool is_known_bad(ViewId view) const;

  // The result of the refill. Valid after filling and before offer().
  RefillRecord refill_record() const { return {source_->items(), left_out_}; }
  // Replaces filling at a round's start by the recorded refill. InternalError: the record is of
  // another round.
  void refill_from(const RefillRecord& record);

  // `failure`: 0, or an exit code with which this rank asks all ranks to end the run.
  std::vector<std::int64_t> offer(std::int64_t failure = 0);

  // The element-wise maxima of all offers. Returns this rank's numbers for the sum; empty when the
  // epoch ends here or a rank has failed. UsageError: ranks were started with different options.
  std::vector<std::int64_t> agree(const std::vector<std::int64_t>& maxima);

  // The round's slots. `sums` is empty after an empty agree(). Then the next round begins.
  std::vector<Slot> total(const std::vector<std::int64_t>& sums);

  // After agree(): a rank failed, so no slots follow.
  struct Failure {
    std::int64_t code = 0;
    int rank = 0;
  };
  const std::optional<Failure>& failure() const { return failure_; }

  bool ended() const { return ended_; }  // the end slot was returned
  // Views of this rank that no slot has taken: after a non-join end, those not emitted.
  std::int64_t remaining() const { return source_->remaining(); }

 private:
  std::vector<Slot> closing_slots();
  void begin_next_round(std::int64_t slots_made);

  RunShape shape_;
  BatchingOptions options_;
  RoundStart start_;
  std::unique_ptr<GroupSource> source_;
  std::vector<LeftOut> left_out_;  // of this round's refill
  OpenStep open_step_;
  Supply supply_;
  std::vector<Group> groups_;  // of this round, one per slot; none when finished
  std::int64_t slots_ = 0;     // T
  std::optional<Failure> failure_;
  bool ended_ = false;
};

// One round over `peers`, after filling. Empty: superseded; `rounds` must not be used any more
// (restore from the agreed round's start). If a rank failed: no slots, see rounds.failure().
std::optional<std::vector<Slot>> run_round(Rounds& rounds, Peers& peers, std::int64_t failure = 0);

// Where a generation begins.
struct Replay {
  std::int64_t round = 0;  // minimum of the ranks' newest saved rounds: all replay from its start
  // A trainer may have taken a slot of that round, so the replay must give the same round. False:
  // the round is formed from its start.
  bool published = false;
};

// First reduction of a generation. `newest_published_round`: the newest round of which this rank
// has published a slot; -1: none. Empty: superseded.
std::optional<Replay> agree_on_replay(Peers& peers, std::int64_t newest_saved_round,
                                      std::int64_t newest_published_round);

}  // namespace odb
