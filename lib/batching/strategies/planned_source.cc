#include "batching/strategies/planned_source.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "batching/alignment.h"

namespace odb {

PlannedSource::PlannedSource(const BatchingOptions& resolved, std::shared_ptr<const EpochPlan> plan,
                             LeftoverList leftovers, const RoundStart& start)
    : model_(cost_model(resolved)),
      round_groups_(resolved.round_groups),
      plan_(std::move(plan)),
      leftovers_(std::move(leftovers)),
      position_(start.sampler),
      restored_(start.window) {
  ODB_CHECK(
      position_.leftover_begin == position_.leftover_end ||
          (leftovers_ && position_.leftover_end <= static_cast<std::int64_t>(leftovers_->size())),
      "leftovers {}..{} of a list of {}", position_.leftover_begin, position_.leftover_end,
      leftovers_ ? leftovers_->size() : 0);
  std::erase_if(position_.progressions, [](const Progression& p) { return p.count() == 0; });
  remaining_ = static_cast<std::int64_t>(restored_.size()) + position_.leftover_end -
               position_.leftover_begin;
  for (const Progression& p : position_.progressions) {
    ODB_CHECK_LE(p.end, plan_->size());
    for (std::int64_t i = p.start; i < p.end; i += p.stride)
      remaining_ += static_cast<std::int64_t>(plan_->batch(i).size());
  }
}

std::span<const ViewId> PlannedSource::batch_at(const SamplerPosition& position) const {
  if (position.leftover_begin < position.leftover_end) {
    GroupSums sums;
    std::int64_t end = position.leftover_begin;
    for (; end < position.leftover_end; ++end) {
      const ViewId view = at(*leftovers_, end);
      sums.add({.view = view, .length = planned_length(*plan_, view), .supervised = 0});
      if (!plan_->limit.permits(sums)) break;
    }
    return std::span(*leftovers_)
        .subspan(static_cast<std::size_t>(position.leftover_begin),
                 static_cast<std::size_t>(end - position.leftover_begin));
  }
  if (position.progressions.empty()) return {};
  return plan_->batch(position.progressions.front().start);
}

void PlannedSource::advance(SamplerPosition& position, std::size_t batch_size) {
  if (position.leftover_begin < position.leftover_end) {
    position.leftover_begin += static_cast<std::int64_t>(batch_size);
    return;
  }
  Progression& front = position.progressions.front();
  front.start += front.stride;
  if (front.count() == 0) position.progressions.erase(position.progressions.begin());
}

std::vector<ViewId> PlannedSource::upcoming(std::int64_t limit) const {
  std::vector<ViewId> views;
  const auto room = [&] { return static_cast<std::size_t>(limit) - views.size(); };
  for (std::size_t i = next_restored_; i < restored_.size() && room() > 0; ++i)
    views.push_back(restored_[i].view);
  const auto append = [&](std::span<const ViewId> batch) {
    batch = batch.first(std::min(batch.size(), room()));
    views.insert(views.end(), batch.begin(), batch.end());
  };
  append(batch_.subspan(next_in_batch_));
  if (room() == 0) return views;
  SamplerPosition ahead = position_;
  for (auto batch = batch_at(ahead); !batch.empty() && room() > 0; batch = batch_at(ahead)) {
    append(batch);
    advance(ahead, batch.size());
  }
  return views;
}

bool PlannedSource::filling() const {
  if (restoring() || next_in_batch_ < batch_.size()) return true;
  return static_cast<std::int64_t>(waiting_.size()) < round_groups_ &&
         (position_.leftover_begin < position_.leftover_end || !position_.progressions.empty());
}

// Moves past `view`, which must be the next one.
void PlannedSource::draw(ViewId view) {
  if (restoring()) {
    ODB_CHECK_EQ(view, restored_[next_restored_].view);
    ++next_restored_;
    return;
  }
  if (next_in_batch_ == batch_.size()) {
    batch_ = batch_at(position_);
    next_in_batch_ = 0;
    ODB_CHECK(!batch_.empty(), "view {} was delivered, but none was requested", view);
    advance(position_, batch_.size());
  }
  ODB_CHECK_EQ(view, batch_[next_in_batch_]);
  ++next_in_batch_;
}

// A restored batch is complete where the batch number changes.
void PlannedSource::close_batch_if_complete() {
  const bool complete = next_restored_ > 0
                            ? !restoring() || restored_[next_restored_].sent_back !=
                                                  restored_[next_restored_ - 1].sent_back
                            : next_in_batch_ == batch_.size();
  if (!restoring()) {
    restored_.clear();
    next_restored_ = 0;
  }
  if (!complete || open_.empty()) return;
  waiting_.push_back(make_group(open_));
  open_.clear();
}

void PlannedSource::deliver(const Item& item) {
  const std::int32_t known = at((*plan_->lengths), item.view);
  if (item.length != known)
    throw DataError(
        "sample {} has {} tokens, but its batch was planned with {}; the data, tokenizer or "
        "template "
        "changed after the length pass: delete its cache and start again",
        item.view, item.length, known);
  draw(item.view);
  open_.push_back(item);
  close_batch_if_complete();
}

void PlannedSource::leave_out(ViewId view) {
  draw(view);
  --remaining_;
  close_batch_if_complete();
}

std::vector<Item> PlannedSource::items() const {
  std::vector<Item> items;
  for (const Group& group : waiting_)
    items.insert(items.end(), group.rows.begin(), group.rows.end());
  return items;
}

Supply PlannedSource::supply() {
  Supply supply;
  supply.groups = static_cast<std::int64_t>(waiting_.size());
  for (const Group& group : waiting_)
    supply.samples += group.sums.rows;
  return supply;
}

std::vector<Group> PlannedSource::take(std::int64_t count, Rng, Rng) {
  const auto whole = std::min(count, static_cast<std::int64_t>(waiting_.size()));
  std::vector<Group> groups(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(waiting_.begin() + whole));
  waiting_.erase(waiting_.begin(), waiting_.begin() + whole);
  split_groups(groups, count, model_);
  for (const Group& group : groups)
    remaining_ -= group.sums.rows;
  return groups;
}

void PlannedSource::save(RoundStart& start) const {
  ODB_CHECK_EQ(next_in_batch_, batch_.size());
  start.sampler = position_;
  start.window.assign(restored_.begin() + static_cast<std::ptrdiff_t>(next_restored_),
                      restored_.end());
  for (std::size_t batch = 0; batch < waiting_.size(); ++batch)
    for (const Item& item : waiting_[batch].rows)
      start.window.push_back({.view = item.view, .sent_back = static_cast<std::int64_t>(batch)});
}

}  // namespace odb
