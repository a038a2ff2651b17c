// The collate process: samples in, slots out, in lockstep with the collates of the other ranks.
//
// The process may die anywhere, by any signal. Everything that its successor needs lies in shared
// memory: the starts of the newest rounds (RoundLog), the side group's generation, crashed samples,
// and which slots are published. The protocol (checked with a formal model, docs/dgap.md):
//   - the start of a round is saved before the round is entered, the record of its refill before
//     its first all-reduce, its checksum before its first slot is published
//   - a process that finds a used generation advances it; all ranks join the newest
//   - first reduction there: R, the oldest of the ranks' newest saved rounds, and whether a rank
//     has published a slot of R; all replay from R
//   - if a rank has, R is formed again from the records and must be the same (else DataError); each
//     rank publishes only what it has not published. Otherwise R is formed from its start
#pragma once

#include <memory>

#include "data/loader/loader.h"
#include "data/loader/refill.h"
#include "data/loader/samples/sample_store.h"
#include "data/loader/samples/sample_stream.h"

namespace odb {

class Collate {
 public:
  // All must outlive it. `stream` supplies the samples.
  Collate(const LoaderSetup& setup, LoaderMemory& memory, SampleStream& stream);

  // Works until `stopped` holds, which every wait polls. Is idle after the last epoch or a failure;
  // the trainer finds the failure in LoaderControl. Throws only std::bad_alloc.
  void run(const GivenUp& stopped);

 private:
  // The rounds of one generation, until it ends or a wait is given up.
  class Generation;

  void work(const GivenUp& stopped);
  std::int64_t newest_published() const;
  PipelineStart await_start(const GivenUp& stopped);
  void fail(const Failure& failure);
  void enter(Phase phase);

  const LoaderSetup& setup_;
  LoaderMemory& memory_;
  LoaderControl& control_;
  SampleStore store_;
  Refill refill_;
  PipelineStart start_;
  std::unique_ptr<Membership> membership_;
};

}  // namespace odb
