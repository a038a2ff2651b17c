// How ranks ended, and what their launch reports: one cause, once, and one exit code. Pure.
//
// One rank's failure ends the others: they leave by themselves, or the launch kills them. So only
// one of all failed ranks is the cause, and what the others report about it is left out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/failure.h"

namespace odb {

struct RankEnd {
  int rank = 0;
  int code = 0;                    // a killed rank counts as a lost peer
  int signal = 0;                  // that killed it; 0: none
  bool ours = false;               // killed by us, after another had failed
  std::string phase;               // the last that it reported (base/launch_channel.h); empty: none
  std::optional<Failure> failure;  // what it reported itself
};

// From the status of waitpid. A rank that was killed by a signal of `passed_on`, before it could
// handle any, has nothing to save: it counts as stopped. `killed`: we have killed the ranks that
// were left; one that ended by itself meanwhile still counts as such.
RankEnd classify_end(int rank, int status, const std::set<int>& passed_on, bool killed);

// The end that explains the others, null if no rank failed. `ends`: in order of time; later ones
// may still be missing. It is the first rank that was killed, or failed for a reason of its own
// (FailureCause::own); without one, a rank that learned of another's failure; without that, one
// that only lost another.
const RankEnd* cause_of(const std::vector<RankEnd>& ends);

// "rank 2 was killed by signal 9 (Killed); it was last training; the run ends with exit code 5".
// The phase is left out if the rank's own message says why. If all `ranks` ended with the same code
// and message: "all 4 ranks ended with exit code 2: ...".
std::string describe_cause(const std::vector<RankEnd>& ends, int ranks);

// The failures of another kind: a sentence for each rank that was killed, or ended by itself with
// another code than the cause's. Those with the same code are left out: they usually met the same
// fault (a full disk), and their own messages are in their log files (--log-dir). Without log
// files, those messages are not shown.
std::vector<std::string> describe_other_failures(const std::vector<RankEnd>& ends);

// The exit code of a launch whose ranks have all ended: that of the cause; without one, `saved` if
// all ranks that we did not kill ended so, 0 if none did, `internal` if only some did.
int launch_code(const std::vector<RankEnd>& ends);

}  // namespace odb
