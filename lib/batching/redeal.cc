#include "batching/redeal.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/index.h"
#include "batching/sampler.h"

namespace odb {
namespace {

// Checks that every rank occurs once and that all are at the same slot.
void check_complete(std::span<const OwnedState> old) {
  if (old.empty()) throw FileError("no data state to continue from");
  const OwnedState& first = old.front();
  const auto slots_done = [](const OwnedState& s) {
    return s.state.start.next_slot + s.state.slots_taken;
  };
  std::vector<bool> seen(old.size());
  for (const OwnedState& state : old) {
    const StateOwner& owner = state.owner;
    if (owner.world != static_cast<int>(old.size()) || owner.rank < 0 ||
        owner.rank >= owner.world || at(seen, owner.rank))
      throw FileError("data states: read {}, one of them of rank {} of {}; expected each rank once",
                      old.size(), owner.rank, owner.world);
    at(seen, owner.rank) = true;
    if (state.state.start.epoch != first.state.start.epoch ||
        slots_done(state) != slots_done(first))
      throw FileError(
          "data states: rank {} stopped in epoch {} before slot {}, rank {} in epoch {} before "
          "slot {}; expected the states of one step",
          owner.rank, state.state.start.epoch, slots_done(state), first.owner.rank,
          first.state.start.epoch, slots_done(first));
  }
}

// Adds the rank's loose ids to `leftovers` and its untouched progressions to `undrawn`.
class OldRank {
 public:
  OldRank(const OwnedState& old, std::span<const ViewId> old_leftovers, const ViewsAt& views_at)
      : old_(old), old_leftovers_(old_leftovers), views_at_(views_at) {
    done_.insert(old.state.taken.begin(), old.state.taken.end());
    for (const LeftOut& row : old.state.left_out)
      done_.insert(row.view);
  }

  void hand_over(std::vector<ViewId>& leftovers, std::vector<Progression>& undrawn) {
    const RoundStart& start = old_.state.start;
    for (const WindowEntry& entry : start.window)
      keep_unless_done(entry.view, leftovers);
    check_leftover_range(start.sampler);
    for (std::int64_t i = start.sampler.leftover_begin; i < start.sampler.leftover_end; ++i)
      keep_unless_done(at(old_leftovers_, i), leftovers);
    for (Progression progression : start.sampler.progressions) {
      while (!done_.empty() && progression.count() > 0) {
        for (const ViewId view : views_at_(progression.start))
          keep_unless_done(view, leftovers);
        progression.start += progression.stride;
      }
      if (progression.count() > 0) undrawn.push_back(progression);
    }
    if (!done_.empty())
      throw FileError(
          "data state of rank {}: it counts view {} as done, but the rank had not drawn it; the "
          "states do not belong together",
          old_.owner.rank, *done_.begin());
  }

 private:
  void keep_unless_done(ViewId view, std::vector<ViewId>& leftovers) {
    if (done_.erase(view) == 0) leftovers.push_back(view);
  }

  void check_leftover_range(const SamplerPosition& position) const {
    if (position.leftover_begin < position.leftover_end &&
        (position.leftover_begin < 0 ||
         position.leftover_end > static_cast<std::int64_t>(old_leftovers_.size())))
      throw FileError(
          "data state of rank {}: leftovers {}..{} of a list of {}; the list belongs to another "
          "checkpoint",
          old_.owner.rank, position.leftover_begin, position.leftover_end, old_leftovers_.size());
  }

  const OwnedState& old_;
  std::span<const ViewId> old_leftovers_;
  const ViewsAt& views_at_;
  std::unordered_set<ViewId> done_;  // trained or left out, and not seen yet
};

}  // namespace

Redealt redeal(std::span<const OwnedState> old, std::span<const ViewId> old_leftovers,
               const ViewsAt& views_at, int new_world) {
  ODB_CHECK_GE(new_world, 1);
  check_complete(old);
  std::vector<const OwnedState*> by_rank(old.size());
  for (const OwnedState& state : old)
    at(by_rank, state.owner.rank) = &state;

  Redealt result;
  std::vector<Progression> undrawn;
  RoundStart next;
  for (const OwnedState* state : by_rank) {
    OldRank(*state, old_leftovers, views_at).hand_over(result.leftovers, undrawn);
    const RoundStart& start = state->state.start;
    next.epoch = start.epoch;
    next.round = std::max(next.round, start.round + 1);
    next.next_slot = start.next_slot + state->state.slots_taken;
    next.fill_target = std::max(next.fill_target, start.fill_target);
    for (const LeftOut& row : start.known_bad)  // after a change of W all ranks have them
      if (std::find(next.known_bad.begin(), next.known_bad.end(), row) == next.known_bad.end())
        next.known_bad.push_back(row);
  }
  result.starts.assign(static_cast<std::size_t>(new_world), next);
  const auto shares =
      share_out(static_cast<std::int64_t>(result.leftovers.size()), undrawn, new_world);
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    result.starts[rank].sampler = shares[rank];
  return result;
}

}  // namespace odb
