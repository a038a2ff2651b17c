// Why a rank failed, published in the store, so that a rank that finds a connection broken, or
// learns from a vote that another rank cannot go on, can report the real cause.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/failure.h"
#include "dist/store.h"

namespace odb {

// The first rank to fail reports its failure, with its rank; later calls change nothing.
// PeerLostError.
void report_failure(Store& store, const Failure& failure);

// The failure that a rank reported. Waits for one up to `limit`; 0: does not wait. `reader`, the
// calling rank, then counts as one of `world` that have read it, however often it asks. Nothing: no
// rank reported one, or the store is gone.
std::optional<Failure> find_failure(Store& store, int reader, int world,
                                    std::chrono::milliseconds limit);

// By the store's host before it leaves with a failure: waits up to `limit` until all ranks have
// read it. Returns whether they have. PeerLostError.
bool await_readers(Store& store, std::chrono::milliseconds limit);

// Logs once that a rank which has failed waits for the others to learn of it, so that the user need
// not wait for its message: a stop after 1 s, another failure after 5 s. Ranks that fail alike have
// all come by then.
class WaitToReport {
 public:
  // `limit`: how long the rank waits at most.
  WaitToReport(Failure failure, std::chrono::milliseconds limit)
      : failure_(std::move(failure)), limit_(limit) {}

  // Call it now and then, with the time waited so far.
  void update(std::chrono::nanoseconds waited);

 private:
  Failure failure_;
  std::chrono::milliseconds limit_;
  bool logged_ = false;
};

}  // namespace odb
