// Which peer has been silent for too long. Pure: what the heartbeat thread sees goes in, a verdict
// comes out.
//
// A peer lives while its beat changes. Silence is counted in what this process has itself watched:
// a gap between two looks counts as two periods at most, so that a machine that was suspended, or a
// trainer that was stopped and goes on, does not take the others for dead. A peer whose process is
// known to have ended (life_line.h) is lost without any silence, unless it left in peace.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace odb {

struct LostPeer {
  int rank = 0;
  std::string phase;   // the last that it told; empty: it never did
  bool ended = false;  // its process has; then there was no silence
  std::chrono::milliseconds silence{0};

  friend bool operator==(const LostPeer&, const LostPeer&) = default;
};

// What a rank publishes: a number that grows, and its phase; left: it has ended in peace.
struct Beat {
  long count = 0;
  std::string phase;
  bool left = false;

  friend bool operator==(const Beat&, const Beat&) = default;
};

// "17 filling", or "17 left"; and back. A text that is no beat: count -1, the text as phase.
std::string to_text(const Beat& beat);
Beat parse_beat(const std::string& text);

// "3 5012 filling": rank, milliseconds, phase; or "3 ended filling"; and back, empty for a text
// that is none.
std::string to_text(const LostPeer& peer);
std::optional<LostPeer> parse_lost_peer(const std::string& text);

class SilenceWatch {
 public:
  // `ranks`: whom to watch. `period`: the time between two looks. `timeout`: silence for this long
  // makes a peer lost.
  SilenceWatch(const std::vector<int>& ranks, std::chrono::milliseconds period,
               std::chrono::milliseconds timeout);

  // One look, `elapsed` after the one before. beats[i]: of ranks[i], empty before its first; read
  // when `ended` was known: the ranks whose processes have. The lost peer: one that has ended, else
  // the one that has been silent longest.
  std::optional<LostPeer> look(const std::vector<std::optional<Beat>>& beats,
                               std::chrono::milliseconds elapsed, const std::set<int>& ended = {});

 private:
  struct Peer {
    int rank = 0;
    std::optional<Beat> last;
    std::chrono::milliseconds silence{0};
  };

  std::chrono::milliseconds most_counted_;
  std::chrono::milliseconds timeout_;
  std::vector<Peer> peers_;
};

}  // namespace odb
