// Which peer has been silent for too long. Pure: beats go in, a verdict comes out.
//
// A peer lives while its beat changes. Only silence that this process itself has watched counts: a
// gap between two checks counts as two periods at most, so that a machine that was suspended, or a
// trainer that was stopped and continues, does not find the others lost. A peer whose process is
// known to have ended (liveness_connection.h) is lost at once, unless it left cleanly.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/liveness_timer.h"

namespace odb {

struct LostPeer {
  int rank = 0;
  std::string phase;   // its last published one; empty: none
  bool ended = false;  // its process has ended; then `silence` is 0
  std::chrono::milliseconds silence{0};

  friend bool operator==(const LostPeer&, const LostPeer&) = default;
};

// What a rank publishes: a number that grows, and its phase; left: it has left cleanly.
struct Beat {
  long count = 0;
  std::string phase;
  bool left = false;

  friend bool operator==(const Beat&, const Beat&) = default;
};

// "17 filling", or "17 left"; and back. A text that is not a beat: count -1, the text as phase.
std::string to_text(const Beat& beat);
Beat parse_beat(const std::string& text);

// "3 5012 filling": rank, milliseconds, phase; or "3 ended filling"; and back, empty for another
// text.
std::string to_text(const LostPeer& peer);
std::optional<LostPeer> parse_lost_peer(const std::string& text);

class PeerLiveness {
 public:
  // `ranks`: the ranks to watch. `period`: the time between two checks. `timeout`: silence for this
  // long makes a peer lost.
  PeerLiveness(const std::vector<int>& ranks, std::chrono::milliseconds period,
               std::chrono::milliseconds timeout);

  // One check, `elapsed` after the one before. beats[i]: of ranks[i], empty before its first; read
  // when `ended`, the ranks whose processes have ended, was known. Returns the lost peer: one that
  // has ended, else the one that has been silent longest.
  std::optional<LostPeer> update(const std::vector<std::optional<Beat>>& beats,
                                 std::chrono::milliseconds elapsed,
                                 const std::set<int>& ended = {});

 private:
  struct Peer {
    int rank = 0;
    LivenessTimer timer;
    std::optional<Beat> last;
    std::int64_t changes = 0;  // of its beat
  };

  std::chrono::milliseconds timeout_;
  LivenessTimer::Clock::time_point now_;  // sum of the times between checks
  std::vector<Peer> peers_;
};

}  // namespace odb
