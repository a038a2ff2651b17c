// What batching needs from the other ranks: two element-wise reductions, and membership in a
// generation of collate processes (a collate may die at any time).
//
// lib/dist implements both over Gloo and a store; memory_peers.h implements them for threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace odb {

enum class Reduction : std::uint8_t { max, sum };

// One step of a reduction: `from` into `into`, element-wise; of equal size.
inline void combine(Reduction reduction, std::span<const std::int64_t> from,
                    std::span<std::int64_t> into) {
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = reduction == Reduction::max ? std::max(into[i], from[i]) : into[i] + from[i];
}

// The group of one generation: W ranks that call reduce() the same number of times, with vectors of
// equal size. One thread at a time.
class Peers {
 public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int world() const = 0;
  virtual std::int64_t generation() const = 0;

  // Element-wise over all ranks. Blocks until all have called, without a time limit (back pressure
  // is not a fault). Empty: superseded, because a newer generation exists or a peer's connection
  // broke (the implementation has then advanced the generation counter). The group cannot be used
  // any more: join the newest generation. InternalError: ranks with vectors of unequal size.
  virtual std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                          std::vector<std::int64_t> values) = 0;
};

// The generation counter that all ranks share, and joining a generation. Thread-safe.
class Membership {
 public:
  virtual ~Membership() = default;

  // The newest generation. Cheap: polled by every wait of a collate.
  virtual std::int64_t generation() = 0;

  // Compare-and-set: a counter equal to `from` becomes `from` + 1. In both cases the caller then
  // joins generation(). True: this caller advanced it.
  virtual bool advance(std::int64_t from) = 0;

  // Joins generation `generation`, which the caller has recorded for the fork server. Blocks until
  // all ranks have joined; null when a newer generation appears meanwhile. Once per generation: a
  // rank that must join again advances the counter first.
  virtual std::unique_ptr<Peers> join(std::int64_t generation) = 0;
};

}  // namespace odb
