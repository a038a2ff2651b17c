// How ranks ended, and what their launch makes of it: one cause, told once, and one exit code.
// Pure.
//
// One rank's failure ends the others, in their own words or by the launch's hand. So of all that
// failed only one is the cause; what the others say of it is left out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace odb {

struct RankEnd {
  int rank = 0;
  int code = 0;       // a killed rank counts as a lost peer
  int signal = 0;     // that killed it; 0: none
  bool ours = false;  // killed by us, after another had failed
  std::string phase;  // the last that it told (base/launch_channel.h); empty: it never did
  std::string words;  // the message it ended with; empty: none
};

// From the status that waitpid gave. A rank that a signal of `passed_on` killed, before it could
// handle any, has nothing to save: it counts as stopped. `killed`: we have killed the ranks that
// were left; one that ended by itself meanwhile did so all the same.
RankEnd judge_end(int rank, int status, const std::set<int>& passed_on, bool killed);

// The end that explains the others, null when no rank failed. `ends`: in their order; the later
// ones may still be to come. The first rank that was killed, or failed for a reason of its own;
// one that only lost another rank counts when there is no such. What a rank has merely heard of
// another's failure is traced back to that one.
const RankEnd* cause_of(const std::vector<RankEnd>& ends);

// "rank 2 was killed by signal 9 (Killed); it was last training; the run ends with exit code 5".
// The phase is left out where the rank's own words tell why.
// Of `ranks` that all ended with the same code and words: "all 4 ranks ended with exit code 2:
// ...".
std::string describe_cause(const std::vector<RankEnd>& ends, int ranks);

// What else failed, in a way of its own: a sentence for each rank that was killed, or ended by
// itself with another code than the cause's. Those with the same code are left out: as a rule they
// met the same fault (a full disk), in words of their own, which their log files hold
// (--log-dir); without such files those words are not told.
std::vector<std::string> describe_other_failures(const std::vector<RankEnd>& ends);

// The exit code of a launch whose ranks have all ended: that of the cause; without one `saved` when
// all ranks that were not killed by us ended so, 0 when none did; `internal` when only some did.
int launch_code(const std::vector<RankEnd>& ends);

}  // namespace odb
