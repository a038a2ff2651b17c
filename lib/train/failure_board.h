// Why a rank left, told to the others through the store: so that whoever finds a connection broken
// can say what really happened.
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

// The first rank to fail tells so; later ones change nothing. PeerLostError.
void tell_failure(Store& store, const RankFailure& failure);

// What a rank has told, waiting for it up to `limit`. Nothing: none did, or the store is gone.
std::optional<RankFailure> find_failure(Store& store, std::chrono::milliseconds limit);

// By the store's host before it leaves with a failure: waits until the `others` have read it, up to
// `limit`.
void await_readers(Store& store, int others, std::chrono::milliseconds limit);

}  // namespace odb
