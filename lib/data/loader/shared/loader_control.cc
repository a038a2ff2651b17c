#include "data/loader/shared/loader_control.h"

namespace odb {

const char* name(Phase phase) {
  switch (phase) {
    case Phase::starting:
      return "starting";
    case Phase::waiting_for_start:
      return "waiting for the start";
    case Phase::joining:
      return "joining the side group";
    case Phase::planning:
      return "planning the epoch";
    case Phase::filling:
      return "filling the window";
    case Phase::aligning:
      return "aligning";
    case Phase::waiting_for_slot:
      return "waiting for a free slot";
    case Phase::ended:
      return "ended";
    case Phase::failed:
      return "failed";
  }
  return "unknown";
}

bool may_be_silent(Phase phase) {
  return phase == Phase::joining || phase == Phase::planning || phase == Phase::aligning;
}

}  // namespace odb
