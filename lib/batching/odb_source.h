// Online dynamic batching: draw into a window, regroup the window each round, emit full groups.
//
// Needs no length before a view is drawn. Between rounds it holds only the window and the sampler's
// position: these are its state.
#pragma once

#include <cstdint>
#include <vector>

#include "batching/group_source.h"
#include "batching/grouping.h"
#include "batching/options.h"
#include "batching/sampler.h"
#include "batching/state.h"
#include "batching/window.h"

namespace odb {

class OdbSource final : public GroupSource {
 public:
  // At `start`: asks first for the ids of its window, then for what the sampler draws. `order` is
  // the epoch's; `leftovers` may be null when the position names none.
  OdbSource(const BatchingOptions& resolved, const Permutation& order, LeftoverList leftovers,
            const RoundStart& start);

  std::vector<ViewId> upcoming(std::int64_t limit) const override;
  bool filling() const override;
  void deliver(const Item& item) override;
  void leave_out(ViewId view) override;
  std::vector<Item> items() const override;
  Supply supply() override;
  std::vector<Group> take(std::int64_t count, Rng shared, Rng own) override;
  std::int64_t remaining() const override;
  void save(RoundStart& start) const override;

 private:
  // A group of the partition that may be emitted in this round.
  struct Candidate {
    double cost = 0;
    ViewId lowest_view = 0;
    std::int64_t sent_back = 0;  // maximum over its samples
    std::size_t group = 0;       // in partition_.groups
  };

  // Moves past the next view; returns how often that view was sent back before.
  std::int64_t draw(ViewId view);
  bool drawn_out() const;
  Candidate candidate(std::size_t group) const;
  void find_candidates();
  // Groups of the partition to emit when there are at most `count` candidates, and when there are
  // more.
  std::vector<std::size_t> all_groups(std::int64_t count) const;
  std::vector<std::size_t> chosen_groups(std::int64_t count, Rng& shared) const;
  Group copy_group(std::size_t group) const;

  BatchingOptions options_;
  GroupingRule rule_;
  Sampler sampler_;
  Window window_;
  std::vector<WindowEntry> restored_;  // window ids of the start: still to be delivered are those
  std::size_t next_restored_ = 0;      // from this index on
  std::int64_t fill_target_;
  Partition partition_;                // of the round
  std::vector<Candidate> candidates_;  // of the round, by cost, ties by lowest view
};

}  // namespace odb
