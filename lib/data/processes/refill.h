// Fills the window of a round: asks for views ahead of need, hands samples to batching in order,
// and keeps their payload for the slot that they will travel in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "batching/rounds.h"
#include "data/processes/lane_control.h"
#include "data/processes/sample_feed.h"
#include "data/processes/sample_store.h"

namespace odb {

class Refill {
 public:
  // All must outlive it.
  Refill(SampleFeed& feed, SampleStore& store, LaneControl& control)
      : feed_(feed), store_(store), control_(control) {}

  // Forgets what was asked for and what is held: before another Rounds is filled.
  void restart();

  enum class Ending : std::uint8_t { filled, given_up, failed };
  struct Result {
    Ending ending = Ending::filled;
    ExitCode code = ExitCode::done;  // failed
    std::string text;
  };

  // Delivers until `rounds` is filled. Blocks as long as samples take to make.
  Result fill(Rounds& rounds, const GivenUp& given_up);

 private:
  struct Pending {
    ViewId view = 0;
    bool known_bad = false;  // not asked for
  };

  std::size_t ahead() const { return pending_.size() - next_; }
  bool ask_ahead(const Rounds& rounds, const GivenUp& given_up);
  void deliver(Rounds& rounds, const FedSample& fed);
  void leave_out(Rounds& rounds, const FedSample& fed);

  SampleFeed& feed_;
  SampleStore& store_;
  LaneControl& control_;
  std::vector<Pending> pending_;  // [next_...): asked for, in order
  std::size_t next_ = 0;
  std::int64_t bad_records_ = 0;
};

}  // namespace odb
