// The collate process: samples in, slots out, in step with the collates of the other ranks.
//
// A life of it may end anywhere, by any signal. All that the next one needs lies in shared memory:
// the starts of the newest rounds (RoundLog), the side group's generation, crashed samples, and
// which slots are published. The protocol, which a formal model was searched for (docs/dgap.md):
//   - the start of a round is saved before the round is entered, the record of its refill before its
//     first all-reduce, its checksum before its first slot is published
//   - whoever finds a generation spent advances it; all ranks join the newest
//   - first reduction there: R, the oldest of the ranks' newest saved rounds, and whether a rank has
//     published a slot of R; all replay from R
//   - if so, R is formed again from the records, must come out the same (else DataError), and only
//     what this rank has not published is published; if not, R is formed anew
#pragma once

#include <memory>

#include "data/processes/lane.h"
#include "data/processes/refill.h"
#include "data/processes/sample_feed.h"
#include "data/processes/sample_store.h"

namespace odb {

class Collate {
 public:
  // All must outlive it. `feed`: where samples come from.
  Collate(const LaneSetup& setup, LaneMemory& memory, SampleFeed& feed);

  // Works until `stopped` holds, which is asked at every glance of a wait; stands idle behind the
  // last epoch or a failure, which is noted for the trainer. Lets only std::bad_alloc through.
  void run(const GivenUp& stopped);

 private:
  // The rounds of one generation, up to its end or to a wait that was given up.
  class Generation;

  void work(const GivenUp& stopped);
  std::int64_t newest_published() const;
  PipelineStart await_start(const GivenUp& stopped);
  void fail(ExitCode code, const std::string& text);
  void enter(Phase phase);

  const LaneSetup& setup_;
  LaneMemory& memory_;
  LaneControl& control_;
  SampleStore store_;
  Refill refill_;
  PipelineStart start_;
  std::unique_ptr<Membership> membership_;
};

}  // namespace odb
