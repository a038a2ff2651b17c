// The vote before each slot, over the CPU group, completed before the slot's first collective on
// the device: is a rank asked to stop, has every rank its slot, and is it the same slot. So no rank
// enters a device collective before all can, a stop is heard even when data is stuck, and ranks
// whose data has come apart never train.
#pragma once

#include <cstdint>
#include <memory>

namespace odb {

class TrainingGroups;

struct ControlVote {
  bool stop = false;
  bool save = false;  // this rank asks for a checkpoint
  bool ready = true;
  double loss_sum = 0;  // of the slot before, on this rank
  int failure = 0;      // the exit code of what keeps this rank from going on; 0: nothing
  // Of the slot that is ready: its number, and a checksum (>= 0) of what ranks must agree on in it.
  std::int64_t slot = 0;
  std::int64_t slot_checksum = 0;
};

struct ControlResult {
  bool stop = false;       // any rank's
  bool save = false;       // any rank's
  bool all_ready = false;  // every rank's
  double loss_sum = 0;     // over all ranks; the same bits on all of them
  int failure = 0;         // the highest of all ranks'
  // Of the ranks that had their slot ready: whether it was the same one, and its number.
  bool same_slot = true;
  std::int64_t lowest_slot = 0;
  std::int64_t highest_slot = 0;
};

class ControlChannel {
 public:
  virtual ~ControlChannel() = default;

  // Collective. Returns at once; the vote goes on by itself. Not while another is under way.
  virtual void begin(const ControlVote& vote) = 0;
  virtual bool under_way() const = 0;

  // What all have voted. Blocks, without limit, until all ranks have begun the same vote.
  // PeerLostError: the connection to a rank broke; no further vote is possible.
  virtual ControlResult await() = 0;
};

// Votes over the connections of a run's groups.
class GroupControl final : public ControlChannel {
 public:
  // `groups` must outlive it. At most one at a time on the same groups.
  explicit GroupControl(TrainingGroups& groups);
  GroupControl(const GroupControl&) = delete;
  GroupControl& operator=(const GroupControl&) = delete;
  // A vote under way is given up, and with it the votes of these groups.
  ~GroupControl() override;

  void begin(const ControlVote& vote) override;
  bool under_way() const override;
  ControlResult await() override;

 private:
  struct Vote;
  std::unique_ptr<Vote> vote_;
};

}  // namespace odb
