// A whole run in one process, small enough to run thousands of them: random data and options, ranks
// in lockstep, stops and restarts.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "batching/lock_step.h"
#include "batching/options.h"
#include "batching/rounds.h"
#include "batching/state.h"
#include "batching/strategies/make_source.h"

namespace odb {

enum class Lengths {
  short_ones,  // a full group needs more samples than a small window
  wide,        // log-normal
  constant,
  over_budget,  // one in ten is longer than L_max
  drifting,     // from short to long over the data set
};

struct Scenario {
  int world = 1;
  std::int64_t data_size = 100;
  std::uint64_t seed = 0;
  Lengths lengths = Lengths::wide;
  int left_out_percent = 0;
  BatchingOptions options;  // resolved

  // The result of preprocessing view `view`.
  Prepared prepare(ViewId view) const;
  RunShape shape(int rank) const;
  // For strategies that plan, the plan is made from the lengths of prepare().
  Epoch epoch() const;
};

std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

// A random scenario of at most 64 ranks, and at most `max_views` views.
Scenario random_scenario(std::uint64_t seed, int size, std::int64_t max_views = 1200);

// All slots of every rank: element r is rank r's.
using Trace = std::vector<std::vector<Slot>>;

// The ranks of a run, from a start (the epoch's, or restored ones).
class Run {
 public:
  explicit Run(const Scenario& scenario);
  Run(const Scenario& scenario, const std::vector<RoundStart>& starts, LeftoverList leftovers);

  bool ended() const { return ranks_.front().ended(); }
  Rounds& rank(int index) { return ranks_[static_cast<std::size_t>(index)]; }

  // One round; element r: the slots of rank r.
  Trace round();
  // Rounds to the end of the epoch.
  Trace to_end();

  // Replaces rank `index` by a new one at the start of its current round.
  void restart(int index);

 private:
  Rounds make(int rank, const RoundStart& start) const;

  Scenario scenario_;
  Epoch epoch_;
  LeftoverList leftovers_;
  std::vector<Rounds> ranks_;
};

void append(Trace& all, const Trace& part);

// A run stopped after `slots` slots: the emitted slots, and every rank's state as bytes, as the
// trainer would save it.
struct Stopped {
  Trace emitted;
  std::vector<std::string> states;
};
Stopped stop_after(const Scenario& scenario, Run& run, std::int64_t slots);

// Parses the states.
std::vector<OwnedState> parse_states(const std::vector<std::string>& states);

// The faults that TraceChecker finds in a whole epoch, one per line; empty: none.
std::string faults_of(const Scenario& scenario, const Trace& trace);

}  // namespace odb
