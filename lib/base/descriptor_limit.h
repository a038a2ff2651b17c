// How many files and connections a process may have open (RLIMIT_NOFILE).
#pragma once

#include <cstdint>
#include <optional>

namespace odb {

// Raises this process's limit as far as the system permits without privileges, for itself and the
// processes that it starts. Data files and the connections of many ranks take more than the usual
// 1,024. Returns the limit now; nothing: unlimited or unknown.
std::optional<std::uint64_t> raise_descriptor_limit();

// What one rank of `world` needs at least, by its rank: rank 0 hosts the store, to which every rank
// has six connections.
std::uint64_t needed_descriptors(std::int64_t rank, std::int64_t world);

// UsageError, with both numbers, when this process may not open as many.
void require_descriptors(std::int64_t rank, std::int64_t world);

}  // namespace odb
