// How far a long pass is, for whoever shows it.
#pragma once

#include <cstdint>
#include <functional>

namespace odb {

// Called from the thread that started the pass, with what is done and what there is in all: bytes
// or rows. What it throws ends the pass.
using ProgressCallback = std::function<void(std::uint64_t done, std::uint64_t total)>;

}  // namespace odb
