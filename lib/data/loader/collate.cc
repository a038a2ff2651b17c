#include "data/loader/collate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "data/loader/slot_writer.h"

namespace odb {
namespace {

constexpr std::chrono::milliseconds kAskAgain{20};

}  // namespace

class Collate::Generation {
 public:
  Generation(Collate& collate, Peers& peers, const GivenUp& stopped)
      : collate_(collate), memory_(collate.memory_), peers_(peers) {
    given_up_ = [this, &stopped] { return stopped() || is_superseded(); };
  }

  // Runs from the start of the replayed round.
  void run(const Replay& replay) {
    const SavedRound saved = memory_.rounds.load(replay.round);
    ordinal_ = replay.round;
    first_sequence_ = saved.first_sequence;
    begin_rounds(saved.start);
    if (rounds_ && replay.published && !replay_round()) return;
    while (rounds_ && one_round()) {
    }
  }

 private:
  const LoaderSetup& setup() const { return collate_.setup_; }

  // Every wait of this generation ends when there is a newer one. Limits the rate of queries: each
  // may cost a message, and a wait may wake often.
  bool is_superseded() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kAskAgain) return false;
    asked_ = now;
    return collate_.membership_->generation() != peers_.generation();
  }

  // At the start of a round of any epoch; no sample of the round is held.
  void begin_rounds(const RoundStart& start) {
    if (start.epoch >= setup().epochs) return idle();
    collate_.enter(Phase::planning);
    if (!epoch_ || epoch_->number != start.epoch) epoch_ = setup().epoch(start.epoch);
    // Leftovers of another number of ranks belong to the epoch that the pipeline began in.
    const bool first_epoch = start.epoch == collate_.start_.state.start.epoch;
    rounds_.emplace(setup().shape, setup().batching, start,
                    make_source(*epoch_, start, first_epoch ? collate_.start_.leftovers : nullptr));
    const CrashedSamples& crashed = collate_.control_.crashed;
    for (std::uint32_t i = 0; i < crashed.size(); ++i)
      if (crashed[i].epoch == start.epoch)
        rounds_->remember_bad({.view = crashed[i].view, .reason = LeftOutReason::crashed_worker});
    collate_.refill_.restart(good_before(start));
  }

  // Views that were prepared in an earlier round, or in this round by an earlier life.
  std::unordered_set<ViewId> good_before(const RoundStart& start) const {
    std::unordered_set<ViewId> views;
    for (const WindowEntry& entry : start.window)
      views.insert(entry.view);
    if (const auto record = memory_.rounds.load_refill(ordinal_))
      for (const Item& item : record->items)
        views.insert(item.view);
    return views;
  }

  // A round of which a rank has published slots: formed again from the record of its refill, so the
  // result is the same even if samples have turned bad. Prepares only the samples of slots that
  // this rank has not published. False: the generation ends here.
  bool replay_round() {
    const std::optional<RefillRecord> record = memory_.rounds.load_refill(ordinal_);
    ODB_CHECK(record.has_value(), "round {} was published without a record of its refill",
              ordinal_);
    rounds_->refill_from(*record);
    const auto slots = align(0);
    if (!slots) return false;
    ODB_CHECK(!rounds_->failure(), "rank {} failed in a round that is already published",
              rounds_->failure()->rank);
    accept(*slots);
    for (const Slot& slot : *slots) {
      if (is_published(slot)) continue;
      collate_.enter(Phase::filling);
      if (!collate_.refill_.restore(slot.group.rows, epoch_->number, given_up_)) return false;
      if (!hand_out(slot)) return false;
    }
    const bool epoch_ended = end_round(static_cast<std::int64_t>(slots->size()));
    // The rest of the window was not prepared, so the next round begins as if it were the first. A
    // copy: begin_rounds() replaces the owner of the start.
    if (!epoch_ended) begin_rounds(RoundStart(rounds_->start()));
    return true;
  }

  // Before a slot of the round is published: it must be the round that an earlier life formed, if
  // one did and its record still stands. DataError.
  void accept(const std::vector<Slot>& slots) {
    if (ordinal_ == 0) check_replayed(collate_.start_.state, slots);
    const std::uint64_t checksum = round_checksum(slots);
    if (memory_.rounds.load_checksum(ordinal_).value_or(checksum) != checksum)
      throw DataError(
          "round {} of epoch {}, formed again after a data process died, differs from the "
          "published round: the data of a rank has changed during the run, or the ranks run "
          "different releases; restart the run from its last checkpoint",
          slots.front().round, epoch_->number);
    memory_.rounds.save_checksum(ordinal_, checksum);
  }

  // False: the generation ends here.
  bool one_round() {
    collate_.enter(Phase::filling);
    const Refill::Result filled = collate_.refill_.fill(*rounds_, given_up_);
    if (filled.ending == Refill::Ending::given_up) return false;
    if (filled.ending == Refill::Ending::filled)
      memory_.rounds.save_refill(ordinal_, rounds_->refill_record());
    const auto slots = align(static_cast<std::int64_t>(filled.failure.code));
    if (!slots) return false;
    if (rounds_->failure()) {
      report_failure(filled);
      return false;
    }
    accept(*slots);
    for (const Slot& slot : *slots)
      if (!hand_out(slot)) return false;
    end_round(static_cast<std::int64_t>(slots->size()));
    return true;
  }

  // The round's slots, agreed with all ranks. `failure`: this rank's exit code, or 0. Empty: the
  // generation is superseded.
  std::optional<std::vector<Slot>> align(std::int64_t failure) {
    collate_.enter(Phase::aligning);
    const auto began = std::chrono::steady_clock::now();
    auto slots = run_round(*rounds_, peers_, failure);
    if (slots) count_round(std::chrono::steady_clock::now() - began);
    return slots;
  }

  std::int64_t sequence(const Slot& slot) const { return first_sequence_ + slot.index_in_round; }
  bool is_published(const Slot& slot) const {
    return sequence(slot) < memory_.arena.next_sequence();
  }

  // False: given up.
  bool hand_out(const Slot& slot) {
    const SlotNumbers at{.sequence = sequence(slot), .ordinal = ordinal_, .epoch = epoch_->number};
    Arena& arena = memory_.arena;
    if (is_published(slot)) {  // taken before the pipeline began
      skip_slot(slot, collate_.store_);
      return true;
    }
    const auto is_free = [&] { return arena.is_free(at.sequence); };
    if (!is_free()) {
      collate_.enter(Phase::waiting_for_slot);
      if (!wait_for(arena.freed(), is_free, given_up_)) return false;
    }
    write_slot(slot, at, cost_model(setup().batching), collate_.store_, arena.buffers(at.sequence));
    arena.publish(at.sequence);
    collate_.control_.progress.fetch_add(1);
    return true;
  }

  void count_round(std::chrono::nanoseconds taken) {
    collate_.control_.aligned_rounds.fetch_add(1, std::memory_order_relaxed);
    collate_.control_.aligning_nanoseconds.fetch_add(taken.count(), std::memory_order_relaxed);
  }

  // Whether the epoch ended with this round; the next epoch has then begun.
  bool end_round(std::int64_t slots) {
    first_sequence_ += slots;
    ++ordinal_;
    const bool ended = rounds_->ended();
    const RoundStart next = ended ? start_of_next_epoch() : rounds_->start();
    memory_.rounds.save({.ordinal = ordinal_, .first_sequence = first_sequence_, .start = next});
    collate_.control_.progress.fetch_add(1);
    if (!ended) return false;
    if (rounds_->remaining() > 0)
      log("data").info("epoch {}: {} samples of this rank were not emitted (--join off)",
                       rounds_->start().epoch, rounds_->remaining());
    rounds_.reset();
    begin_rounds(next);
    return true;
  }

  // After the last epoch only the epoch's number is set.
  RoundStart start_of_next_epoch() {
    RoundStart start;
    start.epoch = rounds_->start().epoch + 1;
    if (start.epoch >= setup().epochs) return start;
    collate_.enter(Phase::planning);
    epoch_ = setup().epoch(start.epoch);
    return start_of_epoch(*epoch_, setup().shape.rank, setup().shape.world);
  }

  void report_failure(const Refill::Result& own) {
    const Rounds::Failure& failure = *rounds_->failure();
    if (own.ending == Refill::Ending::failed &&
        static_cast<std::int64_t>(own.failure.code) == failure.code)
      collate_.fail(own.failure);
    else
      collate_.fail({.code = static_cast<ExitCode>(failure.code),
                     .rank = static_cast<int>(failure.rank),
                     .cause = FailureCause::other_rank,
                     .message = fmt::format(
                         "rank {} ended the run with exit code {}; its own message says why",
                         failure.rank, failure.code)});
    idle();
  }

  // Other ranks may still need this one for a replay, so it stays until it is killed.
  void idle() {
    if (collate_.control_.phase != Phase::failed) collate_.enter(Phase::ended);
    wait_for(memory_.arena.freed(), [] { return false; }, given_up_);
  }

  Collate& collate_;
  LoaderMemory& memory_;
  Peers& peers_;
  GivenUp given_up_;
  std::chrono::steady_clock::time_point asked_;
  std::optional<Epoch> epoch_;
  std::optional<Rounds> rounds_;
  std::int64_t ordinal_ = 0;
  std::int64_t first_sequence_ = 0;
};

Collate::Collate(const LoaderSetup& setup, LoaderMemory& memory, SampleStream& stream)
    : setup_(setup),
      memory_(memory),
      control_(*memory.control),
      refill_(stream, store_, control_, memory.arena.shape().left_out) {}

void Collate::enter(Phase phase) {
  control_.phase.store(phase, std::memory_order_relaxed);
}

void Collate::fail(const Failure& failure) {
  control_.collate_failure.write(failure);
  memory_.arena.published().wake();
  enter(Phase::failed);
}

void Collate::run(const GivenUp& stopped) {
  try {
    work(stopped);
  } catch (const Error& error) {
    fail(error.failure());
    wait_for(memory_.arena.freed(), [] { return false; }, stopped);
  }
}

PipelineStart Collate::await_start(const GivenUp& stopped) {
  enter(Phase::waiting_for_start);
  const auto is_written = [this] { return memory_.start.is_written(); };
  if (!wait_for(memory_.start.written(), is_written, stopped)) return {};
  return memory_.start.read();
}

// The start of a round is saved after all slots of the previous round are published.
std::int64_t Collate::newest_published() const {
  const std::int64_t newest = memory_.rounds.newest();
  const std::int64_t first = memory_.rounds.load(newest).first_sequence;
  return memory_.arena.next_sequence() > std::max<std::int64_t>(0, first) ? newest : newest - 1;
}

void Collate::work(const GivenUp& stopped) {
  start_ = await_start(stopped);
  if (stopped()) return;
  const DataState& state = start_.state;
  if (memory_.rounds.newest() < 0)
    memory_.rounds.save({.ordinal = 0, .first_sequence = -state.slots_taken, .start = state.start});
  enter(Phase::joining);
  membership_ = memory_.membership(setup_, start_.store_address);
  while (!stopped()) {
    enter(Phase::joining);
    const std::int64_t generation = membership_->generation();
    // A generation that an earlier life joined is used: the others wait in it for a dead process.
    if (control_.joined > generation) {
      membership_->advance(generation);
      continue;
    }
    control_.joined = generation + 1;
    const std::unique_ptr<Peers> peers = membership_->join(generation);
    if (!peers) continue;
    const auto replay = agree_on_replay(*peers, memory_.rounds.newest(), newest_published());
    if (replay) Generation(*this, *peers, stopped).run(*replay);
  }
}

}  // namespace odb
