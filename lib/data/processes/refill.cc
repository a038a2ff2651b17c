#include "data/processes/refill.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace odb {
namespace {

constexpr std::int64_t kToldBadRecords = 20;

}  // namespace

void Refill::restart(std::unordered_set<ViewId> good_before) {
  good_before_ = std::move(good_before);
  feed_.restart();
  store_.clear();
  pending_.clear();
  next_ = 0;
}

// wanted() starts at the view that is delivered next, so the first ahead() views of its result are
// already pending.
bool Refill::ask_ahead(const Rounds& rounds, const GivenUp& given_up) {
  const std::int64_t most = feed_.max_ahead();
  if (static_cast<std::int64_t>(ahead()) > most / 2) return true;
  const std::vector<ViewId> upcoming = rounds.wanted(most);
  ODB_CHECK_GE(upcoming.size(), ahead());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  const std::size_t asked = pending_.size();
  for (std::size_t i = asked; i < upcoming.size(); ++i) {
    const bool known_bad = rounds.is_known_bad(upcoming[i]);
    if (!known_bad && !feed_.request(request_for(upcoming[i], rounds.start().epoch), given_up))
      return false;
    pending_.push_back({.view = upcoming[i], .known_bad = known_bad});
  }
  if (upcoming.size() > asked) feed_.flush_requests();
  return true;
}

ViewRequest Refill::request_for(ViewId view, std::int64_t epoch) const {
  return {
      .view = view,
      .epoch = epoch,
      .max_crashes = good_before_.contains(view) ? kCrashesOfOnceGoodSample : kCrashesOfBadSample};
}

Refill::Result Refill::fill(Rounds& rounds, const GivenUp& given_up) {
  left_out_ = 0;
  try {
    while (rounds.filling()) {
      if (!ask_ahead(rounds, given_up)) return {.ending = Ending::given_up, .text = {}};
      ODB_CHECK_GT(ahead(), std::size_t{0});
      const Pending pending = pending_[next_];
      if (pending.known_bad) {
        ++next_;
        count_left_out();
        rounds.leave_out({.view = pending.view, .reason = LeftOutReason::crashed_worker});
        continue;
      }
      const std::optional<FedSample> fed = feed_.next(given_up);
      if (!fed) return {.ending = Ending::given_up, .text = {}};
      ODB_CHECK_EQ(fed->view, pending.view);
      if (fed->kind == AnswerKind::failed)
        return {.ending = Ending::failed, .code = fed->code, .text = std::string(fed->text)};
      ++next_;
      deliver(rounds, *fed);
      feed_.done();
      control_.beats.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (const Error& error) {
    return {.ending = Ending::failed, .code = error.code(), .text = error.what()};
  }
  return {};
}

void Refill::count_left_out() {
  if (++left_out_ > max_left_out_)
    throw DataError(
        "{} samples were left out in one round, at most {} are possible: almost no sample of the "
        "data can be trained; check the data with odb-trainer inspect data",
        left_out_, max_left_out_);
}

void Refill::deliver(Rounds& rounds, const FedSample& fed) {
  if (fed.kind == AnswerKind::left_out) return leave_out(rounds, fed);
  ODB_CHECK_GT(fed.supervised, 0);
  store_.put(fed.view, fed.ids, fed.labels);
  rounds.deliver({.view = fed.view,
                  .length = static_cast<std::int32_t>(fed.ids.size()),
                  .supervised = fed.supervised});
}

void Refill::leave_out(Rounds& rounds, const FedSample& fed) {
  count_left_out();
  const LeftOut row{.view = fed.view, .reason = fed.reason};
  if (fed.reason == LeftOutReason::crashed_worker) {
    // Recorded for later lives before anything of this round can be published.
    control_.crashed.add(rounds.start().epoch, fed.view);
    control_.progress.fetch_add(1);
    rounds.remember_bad(row);
  }
  // Other bad rows are logged in the first epoch only: later epochs have the same ones.
  const bool logged =
      fed.reason == LeftOutReason::crashed_worker ||
      (fed.reason != LeftOutReason::no_supervised_token && rounds.start().epoch == 0);
  if (logged && ++bad_records_ <= kToldBadRecords)
    log("data").warn("left out: {}{}", fed.text,
                     bad_records_ == kToldBadRecords ? " (further ones are only counted)" : "");
  rounds.leave_out(row);
}

bool Refill::restore(std::span<const Item> group, std::int64_t epoch, const GivenUp& given_up) {
  const auto at_once = static_cast<std::size_t>(feed_.max_ahead());
  while (!group.empty()) {
    const std::span<const Item> part = group.first(std::min(group.size(), at_once));
    for (const Item& item : part)
      if (!feed_.request(
              {.view = item.view, .epoch = epoch, .max_crashes = kCrashesOfOnceGoodSample},
              given_up))
        return false;
    feed_.flush_requests();
    for (const Item& item : part) {
      const std::optional<FedSample> fed = feed_.next(given_up);
      if (!fed) return false;
      restore(item, *fed);
      feed_.done();
      control_.beats.fetch_add(1, std::memory_order_relaxed);
    }
    group = group.subspan(part.size());
  }
  return true;
}

void Refill::restore(const Item& item, const FedSample& fed) {
  ODB_CHECK_EQ(fed.view, item.view);
  constexpr const char* kWhy =
      "part of the same round may already be trained, so it cannot be left out now; restart the "
      "run from its last checkpoint";
  if (fed.kind != AnswerKind::sample)
    throw DataError(
        "sample {} was good when its round was formed and cannot be prepared again after a data "
        "process died: {}; {}",
        item.view, fed.text.empty() ? describe(fed.reason) : fed.text, kWhy);
  if (static_cast<std::int64_t>(fed.ids.size()) != item.length || fed.supervised != item.supervised)
    throw DataError(
        "sample {} had {} tokens, {} of them supervised, when its round was formed; found {} and "
        "{} after a data process died: the data has changed during the run; {}",
        item.view, item.length, item.supervised, fed.ids.size(), fed.supervised, kWhy);
  store_.put(fed.view, fed.ids, fed.labels);
}

}  // namespace odb
