#include "dist/heartbeat.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/log.h"
#include "base/poll_interval.h"
#include "base/start_thread.h"
#include "base/text.h"

namespace odb {
namespace {

// How soon a rank without a liveness connection tries again.
constexpr std::chrono::milliseconds kSoon{500};

// Ten beats in the timeout, at least one in ten seconds.
std::chrono::milliseconds period_of(std::chrono::milliseconds timeout) {
  return std::clamp(timeout / 10, std::chrono::milliseconds(5), std::chrono::milliseconds(10000));
}

std::string key_of(const HeartbeatOptions& options, int rank) {
  return fmt::format("{}beat/{}", options.prefix, rank);
}

std::string read_key(const HeartbeatOptions& options, int rank) {
  return fmt::format("{}read/{}", options.prefix, rank);
}

std::string listener_key(const HeartbeatOptions& options) {
  return options.prefix + "line";
}

std::string lost_key(const std::string& prefix) {
  return prefix + "lost";
}

std::vector<int> watched_by(int rank, int world) {
  if (rank != 0) return {0};
  std::vector<int> others(static_cast<std::size_t>(world - 1));
  std::iota(others.begin(), others.end(), 1);
  return others;
}

}  // namespace

std::string describe_lost(const LostPeer& peer, const HostPort& store) {
  const double seconds = static_cast<double>(peer.silence.count()) / 1000;
  if (peer.ended)
    return fmt::format("rank {} is lost: its process ended{}; it was last {}; see its own log",
                       peer.rank,
                       peer.rank == 0 ? " and with it the store at " + to_text(store) : "",
                       peer.phase.empty() ? "starting" : peer.phase);
  if (peer.phase.empty())
    return fmt::format(
        "rank {} did not start within {:.1f} s; see its own log, and check that every rank has the "
        "same world size and the store at {}",
        peer.rank, seconds, to_text(store));
  return fmt::format(
      "rank {} is lost: no sign of life for {:.1f} s; it was last {}; see its own log", peer.rank,
      seconds, peer.phase);
}

void publish_lost(Store& store, const std::string& prefix, const LostPeer& peer) {
  store.set(lost_key(prefix), to_text(peer));
}

Heartbeat::Heartbeat(HeartbeatOptions options, std::function<void(const LostPeer&)> on_lost)
    : options_(std::move(options)),
      on_lost_(std::move(on_lost)),
      period_(period_of(options_.timeout)),
      store_(Store::connect(options_.store, options_.timeout)) {
  if (options_.rank == 0) {
    try {
      listener_ = std::make_unique<LivenessListener>(options_.world, options_.listen_on,
                                                     [this](int rank) { saw_end(rank); });
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {  // no socket, no thread
      log("peers").warn("{}: ranks whose processes end are found only after the timeout",
                        error.what());
    }
    store_.set(listener_key(options_), listener_ ? to_text(listener_->address()) : "none");
  }
  beating_ = start_thread([this] { beat(); });
  try {
    guarding_ = start_thread([this] { guard(); });
  } catch (const FileError&) {
    set(stop_);
    beating_.join();
    throw;
  }
}

Heartbeat::~Heartbeat() {
  set(stop_);
  if (beating_.joinable()) beating_.join();
  guarding_.join();
}

void Heartbeat::leave() {
  set(leaving_);
  beating_.join();
  publish({.count = ++count_, .left = true});
  set(left_);
}

void Heartbeat::set(bool& word) {
  {
    const std::lock_guard lock(mutex_);
    word = true;
  }
  changed_.notify_all();
}

// Tries more than once: rank 0 may be busy with the connections of a thousand others.
bool Heartbeat::needs_connection() const {
  constexpr int kMaxTries = 3;
  return options_.rank != 0 && !connection_ && connection_tries_ < kMaxTries;
}

// Waits at the store, so that the connection exists as soon as possible, long before the first
// step.
void Heartbeat::connect_to_rank_0() {
  constexpr std::chrono::milliseconds kLongest{1000};
  if (!needs_connection() || !store_.wait_for(listener_key(options_), std::min(period_, kSoon)))
    return;
  auto address = parse_liveness_address(store_.find(listener_key(options_)).value_or(""));
  ++connection_tries_;
  if (!address) return;
  if (address->host.empty()) address->host = options_.store.host;
  connection_ = LivenessConnection::connect(*address, options_.rank, std::min(period_, kLongest));
}

void Heartbeat::saw_end(int rank) {
  {
    const std::lock_guard lock(mutex_);
    ended_.insert(rank);
    news_ = true;
  }
  changed_.notify_all();
}

void Heartbeat::hurry() {
  {
    const std::lock_guard lock(mutex_);
    hurried_ = true;
    news_ = true;
  }
  changed_.notify_all();
}

std::chrono::milliseconds Heartbeat::until_next_beat() {
  {
    const std::lock_guard lock(mutex_);
    if (hurried_) return std::min(period_, kSoon);
  }
  if (!needs_connection()) return period_;
  return connection_tries_ == 0 ? std::chrono::milliseconds(0) : std::min(period_, kSoon);
}

template <typename Ended>
bool Heartbeat::pause(std::chrono::milliseconds time, Ended ended, const bool& cut_short) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return ended() || cut_short; });
  return !ended();
}

void Heartbeat::publish(const Beat& beat) {
  store_.set(key_of(options_, options_.rank), to_text(beat));
}

std::vector<std::optional<Beat>> Heartbeat::read(const std::vector<int>& ranks) {
  std::vector<std::optional<Beat>> beats;
  beats.reserve(ranks.size());
  for (const int rank : ranks) {
    const auto text = store_.find(key_of(options_, rank));
    beats.push_back(text ? std::optional(parse_beat(*text)) : std::nullopt);
  }
  return beats;
}

std::optional<LostPeer> Heartbeat::look(PeerLiveness& watch, const std::vector<int>& watched) {
  std::set<int> ended;
  {
    const std::lock_guard lock(mutex_);
    ended = ended_;
    news_ = false;
  }
  const auto beats = read(watched);
  if (options_.rank != 0 && beats[0]) host_ = *beats[0];
  const Clock::time_point now = Clock::now();
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_look_);
  last_look_ = now;
  const auto lost = watch.update(beats, elapsed, ended);
  if (options_.rank == 0) {
    if (!lost) return std::nullopt;
    publish_lost(store_, options_.prefix, *lost);
    await_readers(lost->rank, beats);
    return lost;
  }
  const auto verdict = store_.find(lost_key(options_.prefix));
  if (!verdict) return lost;
  store_.set(read_key(options_, options_.rank), "yes");
  return parse_lost_peer(*verdict);
}

// The others read the verdict while the store lives. Waits at most half the timeout, so that the
// guard does not take the wait for a store that does not answer.
void Heartbeat::await_readers(int lost, const std::vector<std::optional<Beat>>& beats) {
  const Clock::time_point begin = Clock::now();
  const auto is_waited_for = [&](int rank) {
    const auto& beat = at(beats, rank - 1);
    const std::lock_guard lock(mutex_);
    return rank != lost && !(beat && beat->left) && !ended_.contains(rank);
  };
  for (int rank = 1; rank < options_.world; ++rank)
    while (is_waited_for(rank) && !store_.find(read_key(options_, rank)))
      if (Clock::now() - begin > options_.timeout / 2 ||
          !pause(std::min(period_, kPollInterval), [this] { return stop_; }))
        return;
}

void Heartbeat::beat() {
  const std::vector<int> watched = watched_by(options_.rank, options_.world);
  PeerLiveness watch(watched, period_, options_.timeout);
  do {
    const Clock::time_point begin = Clock::now();
    try {
      if (connection_) connection_->keep_alive();
      connect_to_rank_0();
      publish({.count = ++count_, .phase = options_.phase()});
      if (const auto lost = look(watch, watched)) return lose(*lost);
    } catch (const PeerLostError&) {  // the store ended with rank 0's process, or does not answer
      const auto silence =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
      const bool ended = silence < options_.timeout;
      if (!host_.left)
        lose({.rank = 0,
              .phase = host_.phase,
              .ended = ended,
              .silence = ended ? std::chrono::milliseconds(0) : silence});
      return;
    }
    const std::lock_guard lock(mutex_);
    ++looks_;
  } while (pause(until_next_beat(), [this] { return stop_ || leaving_; }, news_));
}

void Heartbeat::guard() {
  std::int64_t seen = -1;
  std::chrono::milliseconds silence{0};
  while (pause(period_, [this] { return stop_ || left_; })) {
    const std::lock_guard lock(mutex_);
    silence = looks_ == seen ? silence + period_ : std::chrono::milliseconds(0);
    seen = looks_;
    if (silence >= options_.timeout) break;
  }
  if (silence >= options_.timeout)
    lose({.rank = 0, .phase = "hosting the store, which does not answer", .silence = silence});
}

void Heartbeat::lose(const LostPeer& peer) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(reported_, true)) return;
  }
  on_lost_(peer);
}

}  // namespace odb
