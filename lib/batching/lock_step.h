// All ranks of a run in one process and one thread: the reductions are plain loops. The simulator
// and the tests use it; real ranks use run_round() over Peers.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "batching/item.h"
#include "batching/rounds.h"

namespace odb {

// The result of preprocessing a view: its length, or why it is left out.
using Prepared = std::variant<Item, LeftOut>;
using Prepare = std::function<Prepared(ViewId)>;

// Delivers the views that `rounds` asks for until its window is filled.
void fill(Rounds& rounds, const Prepare& prepare);

// One round of all `ranks` (rank r at index r). Element r of the result: the slots of rank r.
std::vector<std::vector<Slot>> lock_step_round(std::vector<Rounds>& ranks, const Prepare& prepare);

}  // namespace odb
