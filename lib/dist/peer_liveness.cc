#include "dist/peer_liveness.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::string_view kLeft = "left";
constexpr std::string_view kEnded = "ended";

}  // namespace

std::string to_text(const Beat& beat) {
  return fmt::format("{} {}", beat.count, beat.left ? kLeft : beat.phase);
}

Beat parse_beat(const std::string& text) {
  const std::size_t blank = text.find(' ');
  const auto count = parse_integer<long>(std::string_view(text).substr(0, blank));
  if (!count || blank == std::string::npos) return {.count = -1, .phase = text};
  const std::string phase = text.substr(blank + 1);
  if (phase == kLeft) return {.count = *count, .left = true};
  return {.count = *count, .phase = phase};
}

std::string to_text(const LostPeer& peer) {
  const std::string how = peer.ended ? std::string(kEnded) : std::to_string(peer.silence.count());
  return fmt::format("{} {} {}", peer.rank, how, peer.phase);
}

std::optional<LostPeer> parse_lost_peer(const std::string& text) {
  const auto parts = split(text, ' ');
  if (parts.size() < 3) return std::nullopt;
  const auto rank = parse_integer<int>(parts[0]);
  const bool ended = parts[1] == kEnded;
  const auto silence =
      ended ? std::optional<std::int64_t>(0) : parse_integer<std::int64_t>(parts[1]);
  if (!rank || !silence) return std::nullopt;
  return LostPeer{.rank = *rank,
                  .phase = text.substr(parts[0].size() + parts[1].size() + 2),
                  .ended = ended,
                  .silence = std::chrono::milliseconds(*silence)};
}

PeerLiveness::PeerLiveness(const std::vector<int>& ranks, std::chrono::milliseconds period,
                           std::chrono::milliseconds timeout)
    : timeout_(timeout) {
  for (const int rank : ranks) {
    Peer& peer = peers_.emplace_back(Peer{.rank = rank, .timer = LivenessTimer(2 * period)});
    peer.timer.update(peer.changes, now_);
  }
}

std::optional<LostPeer> PeerLiveness::update(const std::vector<std::optional<Beat>>& beats,
                                             std::chrono::milliseconds elapsed,
                                             const std::set<int>& ended) {
  ODB_CHECK_EQ(beats.size(), peers_.size());
  now_ += elapsed;
  std::optional<LostPeer> lost;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    const bool left = beats[i] && beats[i]->left;
    if (ended.contains(peer.rank) && !left)
      return LostPeer{.rank = peer.rank, .phase = beats[i] ? beats[i]->phase : "", .ended = true};
    if (left || beats[i] != peer.last) ++peer.changes;
    peer.last = beats[i];
    const auto silence = std::chrono::duration_cast<std::chrono::milliseconds>(
        peer.timer.update(peer.changes, now_));
    if (silence >= timeout_ && (!lost || silence > lost->silence))
      lost = LostPeer{
          .rank = peer.rank, .phase = peer.last ? peer.last->phase : "", .silence = silence};
  }
  return lost;
}

}  // namespace odb
