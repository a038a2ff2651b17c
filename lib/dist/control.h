// The vote before each slot, over the CPU group, completed before the slot's first collective on
// the device: is a rank asked to stop, and has every rank its slot at hand. So no rank enters a
// device collective before all can, and a stop is heard even when data is stuck.
#pragma once

#include <memory>

namespace odb {

class TrainingGroups;

struct ControlVote {
  bool stop = false;
  bool at_hand = true;
  double loss_sum = 0;  // of the slot before, on this rank
};

struct ControlResult {
  bool stop = false;         // any rank's
  bool all_at_hand = false;  // every rank's
  double loss_sum = 0;       // over all ranks; the same bits on all of them
};

class ControlChannel {
 public:
  // `groups` must outlive it. At most one channel at a time on the same groups.
  explicit ControlChannel(TrainingGroups& groups);
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;
  // A vote under way is given up, and with it the votes of these groups.
  ~ControlChannel();

  // Collective. Returns at once; the vote goes on by itself. Not while another is under way.
  void begin(const ControlVote& vote);
  bool under_way() const;

  // What all have voted. Blocks, without limit, until all ranks have begun the same vote.
  // PeerLostError: the connection to a rank broke; the groups are of no more use then.
  ControlResult await();

 private:
  struct Vote;
  std::unique_ptr<Vote> vote_;
};

}  // namespace odb
