// Why a rank left, told to the others through the store: so that whoever finds a connection broken,
// or hears in a vote that another rank cannot go on, can say what really happened.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/error.h"
#include "dist/store.h"

namespace odb {

struct RankFailure {
  int rank = 0;
  ExitCode code = ExitCode::internal;
  std::string text;
};

// Thrown by a rank that knows of another that failed, and with what exit code, but not why.
class OtherRankFailed : public Error {
 public:
  using Error::Error;
};

// The first rank to fail tells so; later ones change nothing. PeerLostError.
void tell_failure(Store& store, const RankFailure& failure);

// What a rank has told, waiting for it up to `limit`, 0 for not at all; `reader`, the rank that
// asks, counts as one of `world` that has read it then, however often it asks. Nothing: none did,
// or the store is gone.
std::optional<RankFailure> find_failure(Store& store, int reader, int world,
                                        std::chrono::milliseconds limit);

// By the store's host before it leaves with a failure: waits until all ranks have read it, up to
// `limit`. Whether they have. PeerLostError.
bool await_readers(Store& store, std::chrono::milliseconds limit);

}  // namespace odb
