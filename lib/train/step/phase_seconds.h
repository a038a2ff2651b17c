// Where a rank's training time goes. Phases follow one another on the trainer's thread, so they add
// up to the whole. What runs in parallel with them (copies, pending votes) is in none.
#pragma once

namespace odb {

// Seconds.
struct PhaseSeconds {
  double forward = 0;
  double backward = 0;   // with the reduction over ranks, which it overlaps
  double update = 0;     // clipping and optimizer
  double data_wait = 0;  // this rank had no slot
  double control = 0;    // votes: mostly waiting for other ranks
  double events = 0;     // evaluation, files, console
  double all = 0;        // of the loop

  double other() const {
    return all - (forward + backward + update + data_wait + control + events);
  }
};

}  // namespace odb
