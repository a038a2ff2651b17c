#include "dist/control.h"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/start_thread.h"
#include "dist/gloo_group.h"
#include "dist/training_groups.h"

namespace odb {
namespace {

// A vote as numbers: stop, not ready, the bits of the loss sum, failure; then, as maxima, number
// and checksum of the slot and the negatives of both. A rank without its slot leaves those to
// others.
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kFirstMaximum = 3;

Numbers to_numbers(const ControlVote& vote) {
  const auto if_ready = [&](std::int64_t value) { return vote.ready ? value : kNothing; };
  return {vote.stop,
          !vote.ready,
          std::bit_cast<std::int64_t>(vote.loss_sum),
          vote.failure,
          if_ready(vote.slot),
          if_ready(-vote.slot),
          if_ready(vote.slot_checksum),
          if_ready(-vote.slot_checksum)};
}

ControlResult to_result(const Numbers& numbers) {
  ControlResult result{.stop = numbers[0] != 0,
                       .all_ready = numbers[1] == 0,
                       .loss_sum = std::bit_cast<double>(numbers[2]),
                       .failure = static_cast<int>(numbers[3])};
  if (numbers[4] == kNothing) return result;
  result.highest_slot = numbers[4];
  result.lowest_slot = -numbers[5];
  result.same_slot = numbers[4] == -numbers[5] && numbers[6] == -numbers[7];
  return result;
}

void combine_votes(std::span<const std::int64_t> received, std::span<std::int64_t> own) {
  own[0] |= received[0];
  own[1] |= received[1];
  own[2] = std::bit_cast<std::int64_t>(std::bit_cast<double>(own[2]) +
                                       std::bit_cast<double>(received[2]));
  for (std::size_t i = kFirstMaximum; i < own.size(); ++i)
    own[i] = std::max(own[i], received[i]);
}

}  // namespace

// The vote goes on in a thread, so that begin() does not wait for the other ranks.
struct GroupControl::Vote {
  explicit Vote(GlooGroup& over) : group(over) {
    thread = start_thread([this] { run(); });
  }

  ~Vote() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
      if (begun) group.interrupt();
    }
    changed.notify_all();
    thread.join();
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ended || begun; });
      if (ended) return;
      Numbers numbers = *begun;
      lock.unlock();
      std::exception_ptr error;
      bool complete = false;
      try {
        complete = group.reduce(combine_votes, numbers);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      begun.reset();
      fault = error;
      if (complete) result = to_result(numbers);
      done = true;
      changed.notify_all();
    }
  }

  GlooGroup& group;
  std::mutex mutex;  // of all below but the thread
  std::condition_variable changed;
  std::optional<Numbers> begun;         // taken back when it is through
  bool done = false;                    // a vote is through, its result not yet taken
  std::optional<ControlResult> result;  // empty: a peer was lost
  std::exception_ptr fault;
  bool ended = false;
  std::thread thread;
};

GroupControl::GroupControl(TrainingGroups& groups)
    : vote_(std::make_unique<Vote>(groups.votes())) {}
GroupControl::~GroupControl() = default;

void GroupControl::begin(const ControlVote& vote) {
  ODB_CHECK(!under_way(), "a vote is under way");
  {
    const std::lock_guard lock(vote_->mutex);
    vote_->begun = to_numbers(vote);
  }
  vote_->changed.notify_all();
}

bool GroupControl::under_way() const {
  const std::lock_guard lock(vote_->mutex);
  return vote_->begun || vote_->done;
}

ControlResult GroupControl::await() {
  std::unique_lock lock(vote_->mutex);
  ODB_CHECK(vote_->begun || vote_->done, "no vote is under way");
  vote_->changed.wait(lock, [&] { return vote_->done; });
  vote_->done = false;
  if (vote_->fault) std::rethrow_exception(std::exchange(vote_->fault, nullptr));
  if (const auto result = std::exchange(vote_->result, std::nullopt)) return *result;
  throw PeerLostError(
      "rank {} has closed its connection in a vote before a step; the log of the rank that ended "
      "first says why",
      vote_->group.lost_peer());
}

}  // namespace odb
