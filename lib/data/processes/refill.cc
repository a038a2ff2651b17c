#include "data/processes/refill.h"

#include "base/log.h"

namespace odb {
namespace {

constexpr std::int64_t kToldBadRecords = 20;

}  // namespace

void Refill::restart() {
  feed_.restart();
  store_.clear();
  pending_.clear();
  next_ = 0;
}

// wanted() starts at the view that is delivered next, so the first ahead() of its answer are
// pending already.
bool Refill::ask_ahead(const Rounds& rounds, const GivenUp& given_up) {
  const std::int64_t most = feed_.most_ahead();
  if (static_cast<std::int64_t>(ahead()) > most / 2) return true;
  const std::vector<ViewId> wanted = rounds.wanted(most);
  ODB_CHECK_GE(wanted.size(), ahead());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  const std::size_t asked = pending_.size();
  for (std::size_t i = asked; i < wanted.size(); ++i) {
    const bool known_bad = rounds.is_known_bad(wanted[i]);
    if (!known_bad && !feed_.request(wanted[i], rounds.start().epoch, given_up)) return false;
    pending_.push_back({.view = wanted[i], .known_bad = known_bad});
  }
  if (wanted.size() > asked) feed_.flush_requests();
  return true;
}

Refill::Result Refill::fill(Rounds& rounds, const GivenUp& given_up) {
  try {
    while (rounds.filling()) {
      if (!ask_ahead(rounds, given_up)) return {.ending = Ending::given_up, .text = {}};
      ODB_CHECK_GT(ahead(), std::size_t{0});
      const Pending pending = pending_[next_];
      if (pending.known_bad) {
        ++next_;
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

void Refill::deliver(Rounds& rounds, const FedSample& fed) {
  if (fed.kind == AnswerKind::left_out) return leave_out(rounds, fed);
  ODB_CHECK_GT(fed.supervised, 0);
  store_.put(fed.view, fed.ids, fed.labels);
  rounds.deliver({.view = fed.view,
                  .length = static_cast<std::int32_t>(fed.ids.size()),
                  .supervised = fed.supervised});
}

void Refill::leave_out(Rounds& rounds, const FedSample& fed) {
  const LeftOut row{.view = fed.view, .reason = fed.reason};
  if (fed.reason == LeftOutReason::crashed_worker) {
    // Noted for later lives before anything of this round can be published.
    control_.crashed.add(rounds.start().epoch, fed.view);
    control_.progress.fetch_add(1);
    rounds.remember_bad(row);
  }
  // Later epochs have the same bad rows.
  const bool tells =
      fed.reason == LeftOutReason::crashed_worker ||
      (fed.reason != LeftOutReason::no_supervised_token && rounds.start().epoch == 0);
  if (tells && ++bad_records_ <= kToldBadRecords)
    log("data").warn("left out: {}{}", fed.text,
                     bad_records_ == kToldBadRecords ? " (further ones are only counted)" : "");
  rounds.leave_out(row);
}

}  // namespace odb
