#include "train/session/rendezvous.h"

#include <algorithm>
#include <exception>
#include <future>
#include <utility>

#include "base/amount.h"
#include "base/log.h"
#include "base/poll_interval.h"
#include "base/signals.h"
#include "base/start_thread.h"
#include "dist/rank_heartbeat.h"
#include "train/session/same_options.h"
#include "train/session/stop_check.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kOpened = "run/opened";    // rank 0's folder: "yes", or "no" with a failure
constexpr const char* kOptions = "run/options";  // rank 0's
constexpr const char* kInputs = "run/inputs";    // what rank 0 reads
constexpr const char* kDevice = "run/device";    // what rank 0 computes on
constexpr const char* kAlike = "run/alike";      // how many ranks read the same
constexpr const char* kAllAlike = "run/all-alike";  // "yes", or "no" with a failure
constexpr const char* kLeft = "run/left";
constexpr const char* kAllLeft = "run/all-left";

// Stuck data processes are killed within this time.
constexpr std::chrono::seconds kStoppingData{15};
// For all ranks to read why one failed: the heartbeats of stuck ranks read it within ten seconds.
constexpr std::chrono::seconds kReading{15};
// For a thread that is not stuck to find its connections broken.
constexpr std::chrono::seconds kFinding{2};

Store store_of(const LaunchConfig& launch, std::chrono::milliseconds timeout,
               const std::function<void()>& on_poll) {
  if (launch.rank != 0) return Store::connect(launch.store, timeout, on_poll);
  return launch.listening_socket ? Store::host(launch.store, *launch.listening_socket)
                                 : Store::host(launch.store);
}

bool is_of_another(const Error& error) {
  return error.failure().cause != FailureCause::own;
}

// What this rank ends with when that rank has failed.
OtherRankFailed failure_of_other(const Failure& failure) {
  const char* const how = failure.code == ExitCode::saved ? "was stopped" : "failed";
  return {failure.code, fmt::format("rank {} {}: {}", failure.rank, how, failure.message),
          failure.rank};
}

}  // namespace

Rendezvous::Rendezvous(const LaunchConfig& launch, std::chrono::milliseconds timeout,
                       const std::function<void()>& on_poll)
    : launch_(launch), timeout_(timeout), store_(store_of(launch, timeout, on_poll)) {}

Rendezvous::Rendezvous(const LaunchConfig& launch, std::chrono::milliseconds timeout)
    : Rendezvous(launch, timeout, throw_if_stop_requested) {}

Rendezvous::~Rendezvous() = default;

void Rendezvous::start_heartbeat(ProcessEnd& end, std::function<std::string()> phase,
                                 std::function<void(const LostPeer&)> before_end,
                                 const std::string& network) {
  if (is_single_rank()) return;
  end_ = &end;
  const auto on_lost = [this, before_end = std::move(before_end)](const LostPeer& peer,
                                                                  const Error& loss) {
    if (before_end) before_end(peer);
    end_after(loss);
  };
  heartbeat_ = odb::start_heartbeat(store_.address(), launch_.rank, launch_.world, timeout_,
                                    std::move(phase), on_lost, network);
}

void Rendezvous::publish_config(const std::string& config) {
  store_.set(kOptions, config);
  store_.set_once(kOpened, "yes");
}

bool Rendezvous::await(const char* key) {
  const auto ends = Clock::now() + timeout_;
  do {
    throw_if_stop_requested();
    if (store_.wait_for(key, store_poll_interval(launch_.world))) return true;
  } while (Clock::now() < ends);
  return false;
}

void Rendezvous::await_config(const std::string& config) {
  if (!await(kOpened))
    throw PeerLostError("rank 0 has not opened the folder of the run within {}",
                        print_duration(timeout_));
  if (store_.find(kOpened) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "rank 0 cannot go on");
  const std::string different = differing_options(config, store_.find(kOptions).value_or("{}"));
  if (!different.empty())
    throw UsageError("rank {} was started with other options than rank 0: {}", launch_.rank,
                     different);
}

void Rendezvous::compare_inputs(const std::string& inputs, const std::string& device) {
  if (is_single_rank()) return;
  if (launch_.rank == 0) {
    store_.set(kDevice, device);
    store_.set(kInputs, inputs);
  }
  if (!await(kInputs))
    throw PeerLostError("rank 0 has not reported its inputs within {}", print_duration(timeout_));
  const std::string different = differing_options(inputs, store_.find(kInputs).value_or("{}"));
  if (!different.empty())
    throw UsageError(
        "rank {} reads other files than rank 0: {}; expected copies of the same files on all "
        "machines",
        launch_.rank, different);
  const std::string mismatch =
      device_mismatch({launch_.rank, device}, {0, store_.find(kDevice).value_or(device)});
  if (!mismatch.empty()) throw UsageError("{}", mismatch);
  if (store_.add(kAlike, 1) == launch_.world) store_.set_once(kAllAlike, "yes");
  if (!await(kAllAlike))
    throw PeerLostError("not all ranks have compared what they read within {}",
                        print_duration(timeout_));
  if (store_.find(kAllAlike) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "another rank cannot go on");
  compared_ = true;
}

void Rendezvous::leave() {
  if (heartbeat_) heartbeat_->leave();
  if (store_.add(kLeft, 1) == launch_.world) store_.set(kAllLeft, "1");
  const auto limit = timeout_ + kStoppingData;
  if (launch_.rank == 0 && !store_.wait_for(kAllLeft, limit))
    log("train").warn("not all ranks have left within {}", print_duration(limit));
}

void Rendezvous::publish_failure(const Error& error) {
  if (is_single_rank()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  if (end_) end_->expect(error.failure(), limit_of_end(error));
  if (is_of_another(error)) {
    if (heartbeat_) heartbeat_->hurry();
    return;
  }
  try {
    Failure failure = error.failure();
    failure.rank = launch_.rank;
    report_failure(store_, failure);
    store_.set_once(kAllAlike, "no");  // where ranks still wait for it
    report_end(store_, launch_.rank);
  } catch (const PeerLostError&) {  // nobody left to report to
  }
}

// Until all have compared what they read, some may still be on their way. A stop usually reaches
// all ranks at once, but not if it was meant for one of them.
void Rendezvous::serve_report(Store& store, const Failure& failure) const {
  const bool is_stop = failure.code == ExitCode::saved;
  const auto least = compared_ && is_stop ? kFinding : kReading;
  WaitToReport waiting(failure,
                       compared_ ? least : std::max<std::chrono::milliseconds>(least, timeout_));
  const auto begin = Clock::now();
  try {
    store.set_once(kOpened, "no");
    while (!await_readers(store, kPollInterval)) {
      const auto waited = Clock::now() - begin;
      waiting.update(waited);
      if (waited < least) continue;
      if (compared_ || waited >= timeout_) return;
      throw_if_stop_requested();
    }
  } catch (const PeerLostError&) {          // nobody left to wait for
  } catch (const StoppedBeforeTraining&) {  // what this rank ends with is known already
  }
}

void Rendezvous::await_cause(const Error& error) {
  if (is_single_rank()) return;
  const auto ends = Clock::now() + 2 * timeout_;
  std::optional<Failure> failure = find_failure(store_, launch_.rank, launch_.world, 2 * timeout_);
  if (launch_.rank == 0 && failure) serve_report(store_, *failure);
  if (!is_of_another(error)) return;
  // A rank that fell silent, or died, has reported nothing: the heartbeat finds out which, and ends
  // this process.
  if (!failure) failure = await_heard(ends);
  if (failure) throw failure_of_other(*failure);
}

std::optional<Failure> Rendezvous::await_heard(Clock::time_point ends) {
  if (!heartbeat_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, ends, [this] { return heard_.has_value(); });
  return heard_;
}

// Over its own connection, because another thread may wait for long on the other one.
std::optional<Failure> Rendezvous::read_report() {
  constexpr std::chrono::milliseconds kConnecting{1000};
  try {
    Store connection = Store::connect(store_.address(), std::min(kConnecting, timeout_));
    return find_failure(connection, launch_.rank, launch_.world, std::chrono::milliseconds(0));
  } catch (const PeerLostError&) {
    return std::nullopt;
  }
}

void Rendezvous::end_after(const Error& loss) {
  const std::optional<Failure> failure = read_report();
  bool ending = false;
  {
    const std::lock_guard lock(mutex_);
    heard_ = failure;
    ending = ending_;
  }
  changed_.notify_all();
  if (failure && launch_.rank == 0) serve_report_alone(*failure);
  Failure verdict = loss.failure();
  if (failure) verdict = failure_of_other(*failure).failure();
  // A stop reached all ranks: others have left, and this rank has not noticed it yet.
  else if (!compared_ && stop_state().stop())
    verdict = stopped_before_training().failure();
  // A main thread that is not stuck finds its connections broken and ends this process itself.
  end_->require(verdict, failure || ending ? kFinding : std::chrono::seconds(0));
}

std::chrono::milliseconds Rendezvous::limit_of_end(const Error& error) const {
  if (is_of_another(error)) return 2 * timeout_ + kStoppingData;
  return (compared_ ? std::chrono::milliseconds(kReading) : timeout_) + kStoppingData;
}

// Over its own connection, as above.
void Rendezvous::serve_report_alone(const Failure& failure) const {
  try {
    Store connection = Store::connect(store_.address(), timeout_);
    serve_report(connection, failure);
  } catch (const PeerLostError&) {  // nobody left to wait for
  }
}

void report_early_failure(const LaunchConfig& launch, std::chrono::milliseconds timeout,
                          const Error& error) {
  if (launch.world == 1) return;
  const bool is_stop = error.code() == ExitCode::saved;
  const auto limit = is_stop ? std::min<std::chrono::milliseconds>(kReading, timeout) : timeout;
  std::promise<void> finished;
  const std::future<void> done = finished.get_future();
  auto report = [launch, timeout, error, finished = std::move(finished)]() mutable {
    try {
      // A stop does not end it: this may be the report of one.
      Rendezvous rendezvous(launch, timeout, [] {});
      rendezvous.publish_failure(error);
      rendezvous.await_cause(error);
    } catch (const std::exception&) {  // nobody to report to
    }
    finished.set_value();
  };
  // A store whose host is stopped never answers: the thread is then abandoned.
  start_thread(std::move(report)).detach();
  const auto begin = Clock::now();
  WaitToReport waiting(error.failure(), limit);
  const auto is_cut_short = [is_stop] {
    return is_stop ? stop_state().leave_now : stop_state().stop();
  };
  while (done.wait_for(kPollInterval) != std::future_status::ready && !is_cut_short()) {
    const auto waited = Clock::now() - begin;
    if (waited >= limit) return;
    waiting.update(waited);
  }
}

}  // namespace odb
