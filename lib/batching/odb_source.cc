#include "batching/odb_source.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/index.h"
#include "batching/alignment.h"

namespace odb {

OdbSource::OdbSource(const BatchingOptions& resolved, const Permutation& order,
                     LeftoverList leftovers, const RoundStart& start)
    : options_(resolved),
      rule_(grouping_rule(resolved)),
      sampler_(order, std::move(leftovers), start.sampler),
      window_(resolved),
      restored_(start.window),
      fill_target_(start.fill_target) {}

std::vector<ViewId> OdbSource::upcoming(std::int64_t limit) const {
  std::vector<ViewId> views;
  for (std::size_t i = next_restored_; i < restored_.size() && limit > 0; ++i, --limit)
    views.push_back(restored_[i].view);
  sampler_.peek(limit, views);
  return views;
}

bool OdbSource::filling() const {
  if (next_restored_ < restored_.size()) return true;
  return sampler_.remaining() > 0 && window_.wants_more(fill_target_);
}

std::int64_t OdbSource::draw(ViewId view) {
  if (next_restored_ < restored_.size()) {
    const WindowEntry& entry = restored_[next_restored_++];
    ODB_CHECK_EQ(view, entry.view);
    return entry.sent_back;
  }
  ODB_CHECK_EQ(view, sampler_.next());
  sampler_.advance();
  return 0;
}

void OdbSource::deliver(const Item& item) {
  window_.add(item, draw(item.view));
}

void OdbSource::leave_out(ViewId view) {
  draw(view);
}

std::vector<Item> OdbSource::items() const {
  return {window_.items().begin(), window_.items().end()};
}

bool OdbSource::drawn_out() const {
  return sampler_.remaining() == 0;
}

OdbSource::Candidate OdbSource::candidate(std::size_t group) const {
  const GroupSpan& span = partition_.groups[group];
  Candidate result{.cost = rule_.model.cost(span.sums), .group = group};
  bool first = true;
  for (const std::int32_t member : partition_.members_of(span)) {
    const auto index = static_cast<std::size_t>(member);
    const ViewId view = window_.items()[index].view;
    result.lowest_view = first ? view : std::min(result.lowest_view, view);
    result.sent_back = std::max(result.sent_back, window_.sent_back(index));
    first = false;
  }
  return result;
}

// Full groups; once every view of the epoch is drawn, all groups.
void OdbSource::find_candidates() {
  candidates_.clear();
  for (std::size_t i = 0; i < partition_.groups.size(); ++i)
    if (drawn_out() || partition_.groups[i].full) candidates_.push_back(candidate(i));
  ODB_CHECK(!candidates_.empty() || partition_.groups.empty(),
            "a filled window of {} samples has no full group", window_.size());
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.lowest_view) < std::tie(b.cost, b.lowest_view);
  });
}

Supply OdbSource::supply() {
  ODB_CHECK(!filling(), "the window of {} samples is still filling", window_.size());
  if (rule_.grouping == Grouping::greedy) window_.sort_longer_first();
  partition_window(rule_, window_.items(), partition_);
  find_candidates();
  return {.groups = static_cast<std::int64_t>(candidates_.size()), .samples = window_.size()};
}

// All candidates, and as many open groups as needed, costliest first.
std::vector<std::size_t> OdbSource::all_groups(std::int64_t count) const {
  std::vector<std::size_t> groups;
  std::vector<bool> is_candidate(partition_.groups.size());
  for (const Candidate& c : candidates_) {
    groups.push_back(c.group);
    is_candidate[c.group] = true;
  }
  if (static_cast<std::int64_t>(groups.size()) == count) return groups;
  std::vector<Candidate> others;
  for (std::size_t i = 0; i < partition_.groups.size(); ++i)
    if (!is_candidate[i]) others.push_back(candidate(i));
  std::sort(others.begin(), others.end(), [](const Candidate& a, const Candidate& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.lowest_view < b.lowest_view;
  });
  for (const Candidate& c : others)
    if (static_cast<std::int64_t>(groups.size()) < count) groups.push_back(c.group);
  return groups;
}

std::vector<std::size_t> OdbSource::chosen_groups(std::int64_t count, Rng& shared) const {
  const auto available = static_cast<std::int64_t>(candidates_.size());
  const auto at = [&](std::int64_t place) -> const Candidate& {
    return odb::at(candidates_, place);
  };
  const std::int64_t limit = max_sent_back(available, options_.round_groups);
  std::vector<std::int64_t> overdue;
  for (std::int64_t place = 0; place < available; ++place)
    if (at(place).sent_back > limit) overdue.push_back(place);
  std::sort(overdue.begin(), overdue.end(), [&](std::int64_t a, std::int64_t b) {
    return at(a).sent_back != at(b).sent_back ? at(a).sent_back > at(b).sent_back
                                              : at(a).lowest_view < at(b).lowest_view;
  });
  std::vector<std::size_t> groups;
  for (const std::int64_t place : choose_groups(available, count, overdue, shared))
    groups.push_back(at(place).group);
  return groups;
}

Group OdbSource::copy_group(std::size_t group) const {
  const GroupSpan& span = partition_.groups[group];
  Group copy{.rows = {}, .sums = span.sums};
  copy.rows.reserve(static_cast<std::size_t>(span.sums.rows));
  for (const std::int32_t member : partition_.members_of(span))
    copy.rows.push_back(at(window_.items(), member));
  return copy;
}

std::vector<Group> OdbSource::take(std::int64_t count, Rng shared, Rng own) {
  ODB_CHECK(count >= 1 && count <= window_.size(), "{} groups of {} samples", count,
            window_.size());
  // Drawn first, so that ranks that choose nothing still draw the same order.
  const std::vector<std::int64_t> order =
      slot_order(count, options_.pair_by == PairBy::cost ? shared : own);
  std::vector<Group> groups;
  std::vector<std::int32_t> left;
  const bool choose = static_cast<std::int64_t>(candidates_.size()) > count;
  for (const std::size_t group : choose ? chosen_groups(count, shared) : all_groups(count)) {
    groups.push_back(copy_group(group));
    const auto members = partition_.members_of(partition_.groups[group]);
    left.insert(left.end(), members.begin(), members.end());
  }
  split_groups(groups, count, rule_.model);
  sort_by_cost(groups, rule_.model);
  window_.remove(left);
  fill_target_ = next_fill_target(fill_target_, options_.window);

  std::vector<Group> ordered(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    at(ordered, order[i]) = std::move(groups[i]);
  return ordered;
}

std::int64_t OdbSource::remaining() const {
  return window_.size() + static_cast<std::int64_t>(restored_.size() - next_restored_) +
         sampler_.remaining();
}

void OdbSource::save(RoundStart& start) const {
  start.sampler = sampler_.position();
  start.window = window_.entries();
  start.window.insert(start.window.end(),
                      restored_.begin() + static_cast<std::ptrdiff_t>(next_restored_),
                      restored_.end());
  start.fill_target = fill_target_;
}

}  // namespace odb
