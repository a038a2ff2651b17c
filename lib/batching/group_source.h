// Where a rank's groups come from: the part of batching in which strategies differ.
//
// A source draws views, receives their lengths, and offers groups. Of other ranks it knows only
// their number and the number of slots that all agreed on. odb (odb_source.h) is one
// implementation; the strategies that know lengths in advance are others. Deterministic: state and
// results depend on the calls made, never on time. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "batching/group.h"
#include "batching/item.h"
#include "batching/state.h"

namespace odb {

// What a rank brings to a round.
struct Supply {
  std::int64_t groups = 0;   // groups that may be emitted: >= 1 when unfinished
  std::int64_t samples = 0;  // in these groups and in any others that wait; 0: finished

  bool unfinished() const { return samples > 0; }
};

class GroupSource {
 public:
  virtual ~GroupSource() = default;

  // The next views to prepare, at most `limit`, in the order in which they must be delivered.
  // Draws nothing: a caller may look far beyond the current round and keep what it prepared.
  virtual std::vector<ViewId> upcoming(std::int64_t limit) const = 0;

  // True: the current round needs the view upcoming(1) before supply() may be called.
  virtual bool filling() const = 0;

  // The result for upcoming(1), while filling(). Its length is known and >= 1, or it is left out.
  virtual void deliver(const Item& item) = 0;
  virtual void leave_out(ViewId view) = 0;

  // The samples that it holds, in the order in which a source restored from the round's start asks
  // for them. Valid between the end of filling and supply().
  virtual std::vector<Item> items() const = 0;

  // What this rank brings. Not while filling().
  virtual Supply supply() = 0;

  // Returns exactly `count` groups, none empty, in the order of their slots, and ends the source's
  // round. 1 <= count <= samples of the last supply(). If it has fewer groups, it splits some.
  // `shared` is the same stream on every rank; `own` differs by rank.
  virtual std::vector<Group> take(std::int64_t count, Rng shared, Rng own) = 0;

  // Views, drawn or undrawn, that no returned group contains.
  virtual std::int64_t remaining() const = 0;

  // Writes sampler, window and fill_target. Valid at the start of a round (after construction or
  // take(), before the first deliver() or leave_out()).
  virtual void save(RoundStart& start) const = 0;
};

}  // namespace odb
