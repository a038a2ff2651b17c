#include "peer_notice.h"

#include "dist/store.h"
#include "train/failure_board.h"

namespace odb {

bool tell_peers(int port, const RankEnd& end) {
  constexpr std::chrono::seconds kLimit{1};
  try {
    Store store = Store::connect({"127.0.0.1", static_cast<std::uint16_t>(port)}, kLimit);
    tell_failure(store, {end.rank, static_cast<ExitCode>(end.code),
                         "it was killed, as its launch has told"});
    return find_failure(store, kLimit).has_value();
  } catch (const PeerLostError&) {
    return false;
  }
}

}  // namespace odb
