#include "trace.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxFaults = 20;

bool has_work(SlotKind kind) {
  return kind == SlotKind::data || kind == SlotKind::idle;
}

// data and idle are the same kind of slot, seen from different ranks.
SlotKind shared_kind(SlotKind kind) {
  return kind == SlotKind::data ? SlotKind::idle : kind;
}

}  // namespace

TraceChecker::TraceChecker(const BatchingOptions& resolved, std::int64_t data_size, int world,
                           std::int64_t first_slot)
    : options_(resolved), model_(cost_model(resolved)), seen_(static_cast<std::size_t>(data_size)) {
  continue_on(world, first_slot);
}

template <typename... Args>
void TraceChecker::fault(fmt::format_string<Args...> format, Args&&... args) {
  if (++fault_count_ <= kMaxFaults)
    faults_.push_back(fmt::format(format, std::forward<Args>(args)...));
}

void TraceChecker::continue_on(int world, std::int64_t first_slot) {
  for (const auto& [number, shared] : open_slots_)
    fault("slot {}: {} of {} ranks emitted it before the run stopped", number, shared.ranks,
          ranks_.size());
  open_slots_.clear();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].next_slot != first_slot)
      fault("rank {} stopped before slot {}, the run continues at {}", rank, ranks_[rank].next_slot,
            first_slot);
  ranks_.assign(static_cast<std::size_t>(world), RankState{.next_slot = first_slot});
}

void TraceChecker::add(int rank, const Slot& slot) {
  RankState& state = ranks_.at(static_cast<std::size_t>(rank));
  if (state.ended) fault("rank {}: slot {} after the end slot", rank, slot.number);
  if (slot.number != state.next_slot)
    fault("rank {}: slot {}, expected {}", rank, slot.number, state.next_slot);
  state.next_slot = slot.number + 1;
  state.ended = slot.kind == SlotKind::end;
  check_place(rank, slot);
  check_group(rank, slot);
  for (const LeftOut& row : slot.left_out)
    see(row.view, name(row.reason), rank, slot);
  check_shared(rank, slot);
}

void TraceChecker::see(ViewId view, const char* how, int rank, const Slot& slot) {
  if (view < 0 || view >= static_cast<std::int64_t>(seen_.size())) {
    fault("rank {}, slot {}: view {} of {} ({})", rank, slot.number, view, seen_.size(), how);
    return;
  }
  if (seen_[static_cast<std::size_t>(view)])
    fault("rank {}, slot {}: view {} comes a second time ({})", rank, slot.number, view, how);
  else
    ++seen_count_;
  seen_[static_cast<std::size_t>(view)] = true;
}

void TraceChecker::check_group(int rank, const Slot& slot) {
  const bool empty = slot.group.rows.empty();
  if (empty != (slot.kind != SlotKind::data))
    fault("rank {}, slot {}: {} rows in a slot of kind {}", rank, slot.number,
          slot.group.rows.size(), static_cast<int>(slot.kind));
  GroupSums sums;
  for (const Item& item : slot.group.rows) {
    see(item.view, "trained", rank, slot);
    sums.add(item);
  }
  if (!(sums == slot.group.sums))
    fault("rank {}, slot {}: its group's sums are not those of its rows", rank, slot.number);
  const bool over = !empty && model_.charged(sums) > options_.l_max;
  if (keeps_budget(options_.strategy) && over && sums.rows > 1)
    fault("rank {}, slot {}: {} rows charged {} of a budget of {}", rank, slot.number, sums.rows,
          model_.charged(sums), options_.l_max);
  if (over != slot.over_budget)
    fault("rank {}, slot {}: over budget is {}, but marked {}", rank, slot.number, over,
          slot.over_budget);
}

void TraceChecker::check_place(int rank, const Slot& slot) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  if (!has_work(slot.kind)) return;
  const bool idle = slot.kind == SlotKind::idle;
  if (slot.round != state.round) {
    state.idle_for_good = state.idle_for_good || state.idle_in_round;
    state.round = slot.round;
    state.idle_in_round = idle;
  } else if (idle != state.idle_in_round) {
    fault("rank {}, slot {}: round {} has slots with and without data", rank, slot.number,
          slot.round);
  }
  if (state.idle_for_good && !idle)
    fault("rank {}, slot {}: data after an idle round", rank, slot.number);
}

void TraceChecker::check_shared(int rank, const Slot& slot) {
  Shared& shared = open_slots_[slot.number];
  if (shared.ranks++ == 0) {
    shared.first = {.number = slot.number,
                    .round = slot.round,
                    .index_in_round = slot.index_in_round,
                    .kind = slot.kind,
                    .last_of_step = slot.last_of_step,
                    .totals = slot.totals};
    if (has_work(slot.kind) && slot.round != last_round_) {
      ++rounds_;
      last_round_ = slot.round;
    }
  }
  const Slot& first = shared.first;
  if (shared_kind(slot.kind) != shared_kind(first.kind) || slot.round != first.round ||
      slot.index_in_round != first.index_in_round || slot.last_of_step != first.last_of_step ||
      !(slot.totals == first.totals))
    fault(
        "slot {}: rank {} has another kind, round, place, totals or end of step than an earlier "
        "rank",
        slot.number, rank);
  shared.computed = shared.computed || slot.kind == SlotKind::data;
  const GroupSums& sums = slot.group.sums;
  shared.sums.add(
      {.supervised = sums.supervised,
       .tokens = sums.tokens,
       .samples = sums.rows,
       .supervised_groups = sums.supervised > 0 ? 1 : 0,
       .left_out = has_work(slot.kind) ? static_cast<std::int64_t>(slot.left_out.size()) : 0});
  if (shared.ranks < static_cast<int>(ranks_.size())) return;
  if (!(shared.sums == first.totals))
    fault("slot {}: totals are {} tokens in {} samples, the ranks hold {} in {}", slot.number,
          first.totals.tokens, first.totals.samples, shared.sums.tokens, shared.sums.samples);
  if (has_work(first.kind) && !shared.computed) fault("slot {}: no rank has data", slot.number);
  open_slots_.erase(slot.number);
}

void TraceChecker::finish(bool complete) {
  for (const auto& [number, shared] : open_slots_)
    fault("slot {}: only {} of {} ranks emitted it", number, shared.ranks, ranks_.size());
  if (rounds_ > seen_count_) fault("{} rounds for {} views", rounds_, seen_count_);
  for (std::size_t rank = 0; complete && rank < ranks_.size(); ++rank)
    if (!ranks_[rank].ended) fault("rank {}: no end slot", rank);
  const auto size = static_cast<std::int64_t>(seen_.size());
  if (complete && options_.join && seen_count_ != size)
    fault("{} of {} views came", seen_count_, size);
  if (fault_count_ > kMaxFaults)
    faults_.push_back(fmt::format("and {} more faults", fault_count_ - kMaxFaults));
}

}  // namespace odb
