// Where a rank's groups come from: the part of batching that strategies differ in.
//
// A source draws views, learns their lengths, and offers groups. It knows nothing of other ranks
// but their number and the number of slots that all agreed on. odb (odb_source.h) is one
// implementation; the strategies that know lengths ahead are others. Deterministic: state and
// answers depend on the calls made, never on time. Not thread-safe.
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
  std::int64_t groups = 0;   // groups that may leave: >= 1 when unfinished
  std::int64_t samples = 0;  // samples that these and any others waiting here hold; 0: finished

  bool unfinished() const { return samples > 0; }
};

class GroupSource {
 public:
  virtual ~GroupSource() = default;

  // The next views to prepare, at most `limit`, in the order in which they must be delivered. Does
  // not move: a caller may ask far ahead of the present round and keep what it prepared.
  virtual std::vector<ViewId> wanted(std::int64_t limit) const = 0;

  // True: the present round needs the view wanted(1) before supply() may be asked.
  virtual bool filling() const = 0;

  // The answer for wanted(1), while filling(). Its length is known and >= 1, or it is left out.
  virtual void deliver(const Item& item) = 0;
  virtual void leave_out(ViewId view) = 0;

  // What it holds, in the order in which a source restored from the round's start wants it. Valid
  // between the end of filling and supply().
  virtual std::vector<Item> items() const = 0;

  // What this rank brings. Not while filling().
  virtual Supply supply() = 0;

  // Hands out exactly `count` groups, none empty, in the order of their slots, and ends the
  // source's round. 1 <= count <= samples of the last supply(). More than its groups: split.
  // `shared` is the same stream on every rank; `own` differs by rank.
  virtual std::vector<Group> take(std::int64_t count, Rng shared, Rng own) = 0;

  // Views drawn or undrawn that no group has taken out yet.
  virtual std::int64_t remaining() const = 0;

  // Writes sampler, window and fill_target. Valid at the start of a round (after construction or
  // take(), before the first answer).
  virtual void save(RoundStart& start) const = 0;
};

}  // namespace odb
