#include "train/run_meeting.h"

#include <algorithm>
#include <utility>

#include "base/amount.h"
#include "base/log.h"
#include "dist/rank_heartbeat.h"
#include "train/same_options.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kOpened = "run/opened";    // rank 0's folder: "yes", or "no" with a failure
constexpr const char* kOptions = "run/options";  // rank 0's
constexpr const char* kInputs = "run/inputs";    // what rank 0 reads
constexpr const char* kAlike = "run/alike";      // how many ranks read the same
constexpr const char* kAllAlike = "run/all-alike";  // "yes", or "no" with a failure
constexpr const char* kLeft = "run/left";
constexpr const char* kAllLeft = "run/all-left";

// Data processes that are stuck are killed before that.
constexpr std::chrono::seconds kStoppingData{15};
// For all ranks to read why one failed: the heartbeats of those that are stuck come by within ten.
constexpr std::chrono::seconds kReading{15};
// For a thread that is not stuck to find its connections broken.
constexpr std::chrono::seconds kFinding{2};

Store store_of(const LaunchPlace& place, std::chrono::milliseconds timeout) {
  if (place.rank != 0) return Store::connect(place.store, timeout);
  return place.listening_socket ? Store::host(place.store, *place.listening_socket)
                                : Store::host(place.store);
}

bool is_of_another(const Error& error) {
  return error.code() == ExitCode::peer_lost ||
         dynamic_cast<const OtherRankFailed*>(&error) != nullptr;
}

Error as_error(const RankFailure& failure) {
  return {failure.code, fmt::format("rank {} failed: {}", failure.rank, failure.text)};
}

}  // namespace

RunMeeting::RunMeeting(const LaunchPlace& place, std::chrono::milliseconds timeout)
    : place_(place), timeout_(timeout), store_(store_of(place, timeout)) {}

RunMeeting::~RunMeeting() = default;

void RunMeeting::start_heartbeat(std::function<std::string()> phase,
                                 std::function<void(const LostPeer&)> before_end) {
  if (alone()) return;
  const auto end = [this, before_end = std::move(before_end)](const LostPeer& peer,
                                                              const Error& loss) {
    if (before_end) before_end(peer);
    return end_of_process(loss);
  };
  heartbeat_ = odb::start_heartbeat(store_.address(), place_.rank, place_.world, timeout_,
                                    std::move(phase), end);
}

void RunMeeting::open(const std::string& config) {
  store_.set(kOptions, config);
  store_.set_once(kOpened, "yes");
}

void RunMeeting::await_open(const std::string& config) {
  if (!store_.wait_for(kOpened, timeout_))
    throw PeerLostError("rank 0 has not opened the folder of the run within {}",
                        print_duration(timeout_));
  if (store_.find(kOpened) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "rank 0 cannot go on");
  const std::string different = differing_options(config, store_.find(kOptions).value_or("{}"));
  if (!different.empty())
    throw UsageError("rank {} was started with other options than rank 0: {}", place_.rank,
                     different);
}

void RunMeeting::compare(const std::string& facts) {
  if (alone()) return;
  if (place_.rank == 0) store_.set(kInputs, facts);
  if (!store_.wait_for(kInputs, timeout_))
    throw PeerLostError("rank 0 has not told what it reads within {}", print_duration(timeout_));
  const std::string different = differing_options(facts, store_.find(kInputs).value_or("{}"));
  if (!different.empty())
    throw UsageError(
        "rank {} reads other files than rank 0: {}; wanted copies of the same files on all "
        "machines",
        place_.rank, different);
  if (store_.add(kAlike, 1) == place_.world) store_.set_once(kAllAlike, "yes");
  if (!store_.wait_for(kAllAlike, timeout_))
    throw PeerLostError("not all ranks have compared what they read within {}",
                        print_duration(timeout_));
  if (store_.find(kAllAlike) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "another rank cannot go on");
}

void RunMeeting::leave() {
  if (heartbeat_) heartbeat_->leave();
  if (store_.add(kLeft, 1) == place_.world) store_.set(kAllLeft, "1");
  const auto limit = timeout_ + kStoppingData;
  if (place_.rank == 0 && !store_.wait_for(kAllLeft, limit))
    log("train").warn("not all ranks have left within {}", print_duration(limit));
}

void RunMeeting::tell(const Error& error) {
  if (alone()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (is_of_another(error)) return;
  try {
    tell_failure(store_, {place_.rank, error.code(), error.what()});
    store_.set_once(kAllAlike, "no");  // where ranks still wait for it
    tell_end(store_, place_.rank);
  } catch (const PeerLostError&) {  // nobody left to tell
  }
}

void RunMeeting::settle(const Error& error) {
  if (alone()) return;
  const auto ends = Clock::now() + 2 * timeout_;
  std::optional<RankFailure> failure = find_failure(store_, place_.rank, 2 * timeout_);
  if (place_.rank == 0 && failure) {
    try {
      store_.set_once(kOpened, "no");
      await_readers(store_, place_.world, kReading);
    } catch (const PeerLostError&) {  // nobody left to wait for
    }
  }
  if (!is_of_another(error)) return;
  // Else a rank that fell silent, or died: the heartbeat finds out which, and ends this process.
  if (!failure) failure = await_heard(ends);
  if (failure) throw as_error(*failure);
}

std::optional<RankFailure> RunMeeting::await_heard(Clock::time_point ends) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, ends, [this] { return heard_.has_value(); });
  return heard_;
}

// Over a connection of its own: another thread may wait for long on the other one.
std::optional<RankFailure> RunMeeting::look_at_board() {
  constexpr std::chrono::milliseconds kConnecting{1000};
  try {
    Store board = Store::connect(store_.address(), std::min(kConnecting, timeout_));
    return find_failure(board, place_.rank, std::chrono::milliseconds(0));
  } catch (const PeerLostError&) {
    return std::nullopt;
  }
}

std::optional<Error> RunMeeting::end_of_process(const Error& loss) {
  const std::optional<RankFailure> failure = look_at_board();
  if (!failure) return loss;
  {
    std::unique_lock lock(mutex_);
    heard_ = failure;
    changed_.notify_all();
    if (changed_.wait_for(lock, kFinding, [this] { return ending_; })) return std::nullopt;
  }
  if (place_.rank == 0) {
    try {
      Store board = Store::connect(store_.address(), timeout_);
      await_readers(board, place_.world, kReading);
    } catch (const PeerLostError&) {  // nobody left to wait for
    }
  }
  return as_error(*failure);
}

}  // namespace odb
