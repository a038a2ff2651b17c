#include "data/loader/refill.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxLoggedBadRecords = 20;

}  // namespace

void Refill::restart(std::unordered_set<ViewId> good_before) {
  good_before_ = std::move(good_before);
  stream_.restart();
  store_.clear();
  pending_.clear();
  next_ = 0;
}

// upcoming() starts at the view that is delivered next, so the first ahead() views of its result
// are already pending.
bool Refill::ask_ahead(const Rounds& rounds, const GivenUp& given_up) {
  const std::int64_t most = stream_.max_ahead();
  if (static_cast<std::int64_t>(ahead()) > most / 2) return true;
  const std::vector<ViewId> upcoming = rounds.upcoming(most);
  ODB_CHECK_GE(upcoming.size(), ahead());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  const std::size_t asked = pending_.size();
  for (std::size_t i = asked; i < upcoming.size(); ++i) {
    const bool known_bad = rounds.is_known_bad(upcoming[i]);
    if (!known_bad && !stream_.request(request_for(upcoming[i], rounds.start().epoch), given_up))
      return false;
    pending_.push_back({.view = upcoming[i], .known_bad = known_bad});
  }
  if (upcoming.size() > asked) stream_.flush_requests();
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
      if (!ask_ahead(rounds, given_up)) return {.ending = Ending::given_up};
      ODB_CHECK_GT(ahead(), std::size_t{0});
      const Pending pending = pending_[next_];
      if (pending.known_bad) {
        ++next_;
        count_left_out();
        rounds.leave_out({.view = pending.view, .reason = LeftOutReason::crashed_worker});
        continue;
      }
      const std::optional<SampleView> sample = stream_.next(given_up);
      if (!sample) return {.ending = Ending::given_up};
      ODB_CHECK_EQ(sample->view, pending.view);
      if (sample->kind == AnswerKind::failed)
        return {.ending = Ending::failed, .failure = sample->failure()};
      ++next_;
      deliver(rounds, *sample);
      stream_.done();
      control_.beats.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (const Error& error) {
    return {.ending = Ending::failed, .failure = error.failure()};
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

void Refill::deliver(Rounds& rounds, const SampleView& sample) {
  if (sample.kind == AnswerKind::left_out) return leave_out(rounds, sample);
  ODB_CHECK_GT(sample.supervised, 0);
  store_.put(sample.view, sample.ids, sample.labels);
  rounds.deliver({.view = sample.view,
                  .length = static_cast<std::int32_t>(sample.ids.size()),
                  .supervised = sample.supervised});
}

void Refill::leave_out(Rounds& rounds, const SampleView& sample) {
  count_left_out();
  const LeftOut row{.view = sample.view, .reason = sample.reason};
  if (sample.reason == LeftOutReason::crashed_worker) {
    // Recorded for later lives before anything of this round can be published.
    control_.crashed.add(rounds.start().epoch, sample.view);
    control_.progress.fetch_add(1);
    rounds.remember_bad(row);
  }
  // Other bad rows are logged in the first epoch only: later epochs have the same ones.
  const bool logged =
      sample.reason == LeftOutReason::crashed_worker ||
      (sample.reason != LeftOutReason::no_supervised_token && rounds.start().epoch == 0);
  if (logged && ++bad_records_ <= kMaxLoggedBadRecords)
    log("data").warn(
        "left out: {}{}", sample.text,
        bad_records_ == kMaxLoggedBadRecords ? " (further ones are only counted)" : "");
  rounds.leave_out(row);
}

bool Refill::restore(std::span<const Item> group, std::int64_t epoch, const GivenUp& given_up) {
  const auto at_once = static_cast<std::size_t>(stream_.max_ahead());
  while (!group.empty()) {
    const std::span<const Item> part = group.first(std::min(group.size(), at_once));
    for (const Item& item : part)
      if (!stream_.request(
              {.view = item.view, .epoch = epoch, .max_crashes = kCrashesOfOnceGoodSample},
              given_up))
        return false;
    stream_.flush_requests();
    for (const Item& item : part) {
      const std::optional<SampleView> sample = stream_.next(given_up);
      if (!sample) return false;
      restore(item, *sample);
      stream_.done();
      control_.beats.fetch_add(1, std::memory_order_relaxed);
    }
    group = group.subspan(part.size());
  }
  return true;
}

void Refill::restore(const Item& item, const SampleView& sample) {
  ODB_CHECK_EQ(sample.view, item.view);
  constexpr const char* kWhy =
      "part of the same round may already be trained, so it cannot be left out now; restart the "
      "run from its last checkpoint";
  if (sample.kind != AnswerKind::sample)
    throw DataError(
        "sample {} was good when its round was formed and cannot be prepared again after a data "
        "process died: {}; {}",
        item.view, sample.text.empty() ? name(sample.reason) : sample.text, kWhy);
  if (static_cast<std::int64_t>(sample.ids.size()) != item.length ||
      sample.supervised != item.supervised)
    throw DataError(
        "sample {} had {} tokens, {} of them supervised, when its round was formed; found {} and "
        "{} after a data process died: the data has changed during the run; {}",
        item.view, item.length, item.supervised, sample.ids.size(), sample.supervised, kWhy);
  store_.put(sample.view, sample.ids, sample.labels);
}

}  // namespace odb
