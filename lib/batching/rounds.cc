#include "batching/rounds.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/error.h"
#include "batching/alignment.h"

namespace odb {
namespace {

// The number that ranks compare: a hash of their position and their options.
std::int64_t position_word(const RunShape& shape, const BatchingOptions& options,
                           const RoundStart& start) {
  const std::string text = fmt::format(
      "{} step={}/{}/{} seed={} data={} world={} epoch={} round={} slot={}",
      options_fingerprint(options), options.accumulate.value_or(0),
      options.global_batch_tokens.value_or(0), options.global_batch_samples.value_or(0), shape.seed,
      shape.data_size, shape.world, start.epoch, start.round, start.next_slot);
  return static_cast<std::int64_t>(checksum64(text) >> 1);
}

#ifdef NDEBUG
constexpr bool kAssertInvariants = false;
#else
constexpr bool kAssertInvariants = true;
#endif

// The guarantees of batching that one rank can check (trace.h checks all ranks together): every
// group has rows, only a single long sample exceeds the budget, and no view comes twice.
void assert_groups(const BatchingOptions& options, const std::vector<Group>& groups) {
  const CostModel model = cost_model(options);
  std::vector<ViewId> views;
  for (const Group& group : groups) {
    ODB_CHECK(!group.rows.empty(), "a group without rows");
    ODB_CHECK(group == make_group(group.rows), "the sums of a group are not those of its rows");
    ODB_CHECK(group.sums.rows == 1 || !keeps_budget(options.strategy) ||
                  model.charged(group.sums) <= options.l_max,
              "{} rows take {} of {}", group.sums.rows, model.charged(group.sums), options.l_max);
    for (const Item& item : group.rows)
      views.push_back(item.view);
  }
  std::sort(views.begin(), views.end());
  const auto twice = std::adjacent_find(views.begin(), views.end());
  ODB_CHECK(twice == views.end(), "view {} is in a round twice", *twice);
}

}  // namespace

Rounds::Rounds(const RunShape& shape, const BatchingOptions& options, const RoundStart& start,
               std::unique_ptr<GroupSource> source)
    : shape_(shape),
      options_(options),
      start_(start),
      source_(std::move(source)),
      open_step_(start.open_step) {
  ODB_CHECK(shape.world >= 1 && shape.rank >= 0 && shape.rank < shape.world, "rank {} of {}",
            shape.rank, shape.world);
}

void Rounds::deliver(const Item& item) {
  if (item.length < 1 || item.supervised < 0)
    throw DataError(
        "sample {} has {} tokens, {} of them supervised; expected at least one token and no "
        "negative count",
        item.view, item.length, item.supervised);
  if (item.supervised == 0)
    leave_out({.view = item.view, .reason = LeftOutReason::no_supervised_token});
  else
    source_->deliver(item);
}

void Rounds::leave_out(const LeftOut& row) {
  source_->leave_out(row.view);
  left_out_.push_back(row);
}

void Rounds::remember_bad(const LeftOut& row) {
  if (!is_known_bad(row.view)) start_.known_bad.push_back(row);
}

bool Rounds::is_known_bad(ViewId view) const {
  return std::any_of(start_.known_bad.begin(), start_.known_bad.end(),
                     [&](const LeftOut& row) { return row.view == view; });
}

void Rounds::refill_from(const RefillRecord& record) {
  auto item = record.items.begin();
  auto row = record.left_out.begin();
  while (filling()) {
    const ViewId view = upcoming(1).front();
    if (item != record.items.end() && item->view == view) {
      source_->deliver(*item++);
    } else {
      ODB_CHECK(row != record.left_out.end() && row->view == view,
                "the recorded refill of round {} lacks view {}", start_.round, view);
      leave_out(*row++);
    }
  }
  ODB_CHECK(item == record.items.end() && row == record.left_out.end(),
            "the recorded refill of round {} holds more than the round asks for", start_.round);
}

std::vector<std::int64_t> Rounds::offer(std::int64_t failure) {
  ODB_CHECK(!ended_, "the epoch has ended");
  // A rank that failed may have stopped in the middle of filling.
  supply_ = failure == 0 ? source_->supply() : Supply{};
  return encode(Offer{.supply = supply_,
                      .rank = shape_.rank,
                      .failure = failure,
                      .position = position_word(shape_, options_, start_)});
}

std::vector<std::int64_t> Rounds::agree(const std::vector<std::int64_t>& maxima) {
  const Agreement agreement = decode_agreement(maxima);
  if (!agreement.same_position)
    throw UsageError(
        "rank {} is at epoch {}, round {}, slot {} of {} samples with --seed {} and {}; another "
        "rank has another position or other options: compare the options, the seed, the data "
        "files and the checkpoint of all ranks",
        shape_.rank, start_.epoch, start_.round, start_.next_slot, shape_.data_size, shape_.seed,
        options_fingerprint(options_));
  slots_ = 0;
  groups_.clear();
  if (agreement.failure != 0) {
    failure_ = {.code = agreement.failure, .rank = agreement.failed_rank};
    return {};
  }
  slots_ = slots_of_round(options_, agreement);
  if (slots_ == 0) return {};
  if (supply_.unfinished()) {
    const auto epoch = static_cast<std::uint64_t>(start_.epoch);
    const std::uint64_t stream = static_cast<std::uint64_t>(start_.round) << 24;
    groups_ = source_->take(slots_, Rng(shape_.seed, RandomPurpose::round_choice, epoch, stream),
                            Rng(shape_.seed, RandomPurpose::round_choice, epoch,
                                stream + 1 + static_cast<std::uint64_t>(shape_.rank)));
    ODB_CHECK_EQ(static_cast<std::int64_t>(groups_.size()), slots_);
    if (kAssertInvariants) assert_groups(options_, groups_);
  }
  return encode_totals(groups_, slots_, static_cast<std::int64_t>(left_out_.size()));
}

std::vector<Slot> Rounds::total(const std::vector<std::int64_t>& sums) {
  ODB_CHECK(!failure_, "rank {} failed: its round has no slots", failure_->rank);
  if (slots_ == 0) return closing_slots();
  const std::vector<SlotTotals> totals = decode_totals(sums);
  ODB_CHECK_EQ(static_cast<std::int64_t>(totals.size()), slots_);
  std::vector<Slot> slots(totals.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    slot.number = start_.next_slot + static_cast<std::int64_t>(i);
    slot.round = start_.round;
    slot.index_in_round = static_cast<std::int64_t>(i);
    slot.totals = totals[i];
    slot.last_of_step = count_slot(options_, slot.totals, open_step_);
    if (groups_.empty()) continue;
    slot.kind = SlotKind::data;
    slot.group = std::move(groups_[i]);
    slot.over_budget = cost_model(options_).charged(slot.group.sums) > options_.l_max;
  }
  slots.front().left_out = std::move(left_out_);
  begin_next_round(slots_);
  return slots;
}

std::vector<Slot> Rounds::closing_slots() {
  std::vector<Slot> slots;
  for (const SlotKind kind : {SlotKind::closing, SlotKind::end}) {
    if (kind == SlotKind::closing && !open_step_.open()) continue;
    Slot slot;
    slot.number = start_.next_slot + static_cast<std::int64_t>(slots.size());
    slot.round = start_.round;
    slot.index_in_round = static_cast<std::int64_t>(slots.size());
    slot.kind = kind;
    slot.last_of_step = kind == SlotKind::closing;
    slots.push_back(std::move(slot));
  }
  slots.front().left_out = std::move(left_out_);
  open_step_ = {};
  ended_ = true;
  begin_next_round(static_cast<std::int64_t>(slots.size()));
  return slots;
}

void Rounds::begin_next_round(std::int64_t slots_made) {
  ++start_.round;
  start_.next_slot += slots_made;
  start_.open_step = open_step_;
  source_->save(start_);
  left_out_.clear();
  groups_.clear();
}

std::optional<std::vector<Slot>> run_round(Rounds& rounds, Peers& peers, std::int64_t failure) {
  const auto maxima = peers.reduce(Reduction::max, rounds.offer(failure));
  if (!maxima) return std::nullopt;
  std::vector<std::int64_t> own = rounds.agree(*maxima);
  if (rounds.failure()) return std::vector<Slot>{};
  if (own.empty()) return rounds.total({});
  const auto sums = peers.reduce(Reduction::sum, std::move(own));
  if (!sums) return std::nullopt;
  return rounds.total(*sums);
}

std::optional<Replay> agree_on_replay(Peers& peers, std::int64_t newest_saved_round,
                                      std::int64_t newest_published_round) {
  const auto maxima = peers.reduce(Reduction::max, {-newest_saved_round, newest_published_round});
  if (!maxima) return std::nullopt;
  const std::int64_t round = -maxima->front();
  return Replay{.round = round, .published = maxima->back() >= round};
}

}  // namespace odb
