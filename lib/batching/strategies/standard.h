// standard: --batch-size samples in the random order of the epoch, whatever their lengths.
//
// Knows: no length, before or after. Guarantees: every view once; batches random in every respect;
// all of --batch-size rows but the rank's last. Does not: keep batches within --l-max, or avoid
// padding.
//
// Counterpart: a distributed sampler under a plain batch loader. It shards first - rank r of W
// draws positions r, r + W, ... - and then repeats samples, or drops them, so that shards and last
// batches are even; here shards differ by at most one sample and the last batch is smaller.
//
// State: the sampler's position, and as window the samples that were drawn but not handed out.
#pragma once

#include <cstdint>
#include <vector>

#include "batching/group_source.h"
#include "batching/sampler.h"

namespace odb {

class StandardSource final : public GroupSource {
 public:
  // `order` is the epoch's; `leftovers` may be null when the position of `start` names none.
  StandardSource(const BatchingOptions& resolved, const Permutation& order, LeftoverList leftovers,
                 const RoundStart& start);

  std::vector<ViewId> upcoming(std::int64_t limit) const override;
  bool filling() const override;
  void deliver(const Item& item) override;
  void leave_out(ViewId view) override;
  std::vector<Item> items() const override { return waiting_; }
  Supply supply() override;
  std::vector<Group> take(std::int64_t count, Rng shared, Rng own) override;
  std::int64_t remaining() const override;
  void save(RoundStart& start) const override;

 private:
  void draw(ViewId view);
  std::int64_t restored_left() const {
    return static_cast<std::int64_t>(restored_.size() - next_restored_);
  }

  CostModel model_;
  std::int64_t batch_size_;
  std::int64_t fill_target_;  // samples of a full round
  Sampler sampler_;
  std::vector<ViewId> restored_;  // window of the start, to be drawn again
  std::size_t next_restored_ = 0;
  std::vector<Item> waiting_;  // drawn, in draw order
};

}  // namespace odb
