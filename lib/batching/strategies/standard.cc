#include "batching/strategies/standard.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "batching/alignment.h"

namespace odb {

StandardSource::StandardSource(const BatchingOptions& resolved, const Permutation& order,
                               LeftoverList leftovers, const RoundStart& start)
    : model_(cost_model(resolved)),
      batch_size_(resolved.batch_size),
      fill_target_(resolved.batch_size * resolved.round_groups),
      sampler_(order, std::move(leftovers), start.sampler) {
  for (const WindowEntry& entry : start.window)
    restored_.push_back(entry.view);
}

std::vector<ViewId> StandardSource::upcoming(std::int64_t limit) const {
  const std::int64_t again = std::min(limit, restored_left());
  const auto first = restored_.begin() + static_cast<std::ptrdiff_t>(next_restored_);
  std::vector<ViewId> views(first, first + again);
  sampler_.peek(limit - again, views);
  return views;
}

bool StandardSource::filling() const {
  if (restored_left() > 0) return true;
  return static_cast<std::int64_t>(waiting_.size()) < fill_target_ && sampler_.remaining() > 0;
}

void StandardSource::draw(ViewId view) {
  if (restored_left() > 0) {
    ODB_CHECK_EQ(view, restored_[next_restored_]);
    ++next_restored_;
  } else {
    ODB_CHECK_EQ(view, sampler_.next());
    sampler_.advance();
  }
}

void StandardSource::deliver(const Item& item) {
  draw(item.view);
  waiting_.push_back(item);
}

void StandardSource::leave_out(ViewId view) {
  draw(view);
}

Supply StandardSource::supply() {
  const auto samples = static_cast<std::int64_t>(waiting_.size());
  return {.groups = (samples + batch_size_ - 1) / batch_size_, .samples = samples};
}

std::vector<Group> StandardSource::take(std::int64_t count, Rng, Rng) {
  std::vector<Group> groups;
  std::span<const Item> rows(waiting_);
  while (!rows.empty() && static_cast<std::int64_t>(groups.size()) < count) {
    const std::size_t size = std::min(rows.size(), static_cast<std::size_t>(batch_size_));
    groups.push_back(make_group(rows.first(size)));
    rows = rows.subspan(size);
  }
  waiting_.erase(waiting_.begin(), waiting_.end() - static_cast<std::ptrdiff_t>(rows.size()));
  split_groups(groups, count, model_);
  return groups;
}

std::int64_t StandardSource::remaining() const {
  return sampler_.remaining() + restored_left() + static_cast<std::int64_t>(waiting_.size());
}

void StandardSource::save(RoundStart& start) const {
  start.sampler = sampler_.position();
  start.window.clear();
  for (std::size_t i = next_restored_; i < restored_.size(); ++i)
    start.window.push_back({.view = restored_[i], .sent_back = 0});
  for (const Item& item : waiting_)
    start.window.push_back({.view = item.view, .sent_back = 0});
}

}  // namespace odb
