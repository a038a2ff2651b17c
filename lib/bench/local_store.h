// The store of ranks that are processes of one command (local_ranks.h).
#pragma once

#include <optional>

#include "bench/local_ranks.h"
#include "dist/store.h"

namespace odb {

struct LocalStore {
  std::optional<Store> hosted;  // rank 0's: the others reach it as long as this lives
  HostPort address;
};

// Rank 0 hosts the store on a free port of loopback and publishes it; the others wait for the port.
LocalStore open_local_store(LocalRendezvous& rendezvous, int rank);

}  // namespace odb
