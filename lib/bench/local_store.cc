#include "bench/local_store.h"

namespace odb {

LocalStore open_local_store(LocalRendezvous& rendezvous, int rank) {
  LocalStore store;
  if (rank == 0) {
    store.hosted = Store::host({"127.0.0.1", 0});
    rendezvous.publish_port(store.hosted->address().port);
  }
  store.address = {"127.0.0.1", rendezvous.await_port()};
  return store;
}

}  // namespace odb
