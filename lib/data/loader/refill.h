// Fills the window of a round: requests views in advance, delivers samples to batching in order,
// and keeps their ids and labels until their slot is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "batching/rounds.h"
#include "data/loader/samples/sample_store.h"
#include "data/loader/samples/sample_stream.h"
#include "data/loader/shared/loader_control.h"

namespace odb {

class Refill {
 public:
  // All must outlive it. `max_left_out`: rows that one refill may leave out.
  Refill(SampleStream& stream, SampleStore& store, LoaderControl& control,
         std::int64_t max_left_out)
      : stream_(stream), store_(store), control_(control), max_left_out_(max_left_out) {}

  // Forgets all requests and samples: call it before another Rounds is filled. Views in
  // `good_before` are tried more often before they count as bad.
  void restart(std::unordered_set<ViewId> good_before);

  enum class Ending : std::uint8_t { filled, given_up, failed };
  struct Result {
    Ending ending = Ending::filled;
    Failure failure{.code = ExitCode::done};  // failed
  };

  // Delivers until `rounds` is filled. Blocks while samples are prepared. More than `max_left_out`
  // rows left out in one round: failed, with ExitCode::data.
  Result fill(Rounds& rounds, const GivenUp& given_up);

  // After restart(): prepares the samples of a group whose slot is replayed, and keeps them. False:
  // given up. DataError naming the view: its sample is not the one that the group was formed with.
  bool restore(std::span<const Item> group, std::int64_t epoch, const GivenUp& given_up);

 private:
  struct Pending {
    ViewId view = 0;
    bool known_bad = false;  // not requested
  };

  std::size_t ahead() const { return pending_.size() - next_; }
  bool ask_ahead(const Rounds& rounds, const GivenUp& given_up);
  ViewRequest request_for(ViewId view, std::int64_t epoch) const;
  void restore(const Item& item, const SampleView& sample);
  void deliver(Rounds& rounds, const SampleView& sample);
  void leave_out(Rounds& rounds, const SampleView& sample);
  void count_left_out();

  SampleStream& stream_;
  SampleStore& store_;
  LoaderControl& control_;
  std::int64_t max_left_out_;
  std::unordered_set<ViewId> good_before_;
  std::vector<Pending> pending_;  // [next_...): requested, in order
  std::size_t next_ = 0;
  std::int64_t left_out_ = 0;  // in the round
  std::int64_t bad_records_ = 0;
};

}  // namespace odb
