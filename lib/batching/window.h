// The samples that a rank has drawn and not yet emitted, and how far it fills. In draw order; under
// greedy, which does not depend on it, sorted once and kept sorted.
//
// It fills to `fill_target` samples (256, then doubled each round up to --window) and at most
// 128 x L_max tokens. It exceeds both while all of it is one group that could still grow, because a
// window without a full group could not emit anything. So it holds fewer than window + L_max
// samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batching/grouping.h"
#include "batching/item.h"
#include "batching/options.h"
#include "batching/state.h"

namespace odb {

class Window {
 public:
  explicit Window(const BatchingOptions& resolved);

  std::span<const Item> items() const { return items_; }
  std::int64_t sent_back(std::size_t index) const { return sent_back_[index]; }
  std::int64_t size() const { return static_cast<std::int64_t>(items_.size()); }

  // True: takes the next draw in the round.
  bool wants_more(std::int64_t fill_target) const;

  void add(const Item& item, std::int64_t sent_back);

  // Puts the samples in the order of greedy. Cheap when few were added since the last call.
  void sort_longer_first();

  // Ends a round: removes the samples at the indexes `left`; all others are sent back once more.
  void remove(std::span<const std::int32_t> left);

  std::vector<WindowEntry> entries() const;

 private:
  std::int64_t max_tokens_;
  GroupingRule rule_;
  std::vector<Item> items_;
  std::vector<std::int64_t> sent_back_;
  std::size_t sorted_ = 0;  // as many samples at the front are in the order of greedy
  GroupSums sums_;          // of items_
};

}  // namespace odb
