// What batching needs from the other ranks: two element-wise reductions, and membership in a
// generation of collate processes (design: a collate may die at any time).
//
// lib/dist implements both over Gloo and a store; memory_peers.h is the twin for threads.
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

// One step of a reduction: `from` into `into`, element by element; of equal size.
inline void combine(Reduction reduction, std::span<const std::int64_t> from,
                    std::span<std::int64_t> into) {
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = reduction == Reduction::max ? std::max(into[i], from[i]) : into[i] + from[i];
}

// The group of one generation: W ranks, each calling reduce() the same number of times with the
// same arguments' shape. One thread at a time.
class Peers {
 public:
  virtual ~Peers() = default;

  virtual int rank() const = 0;
  virtual int world() const = 0;
  virtual std::int64_t generation() const = 0;

  // Element-wise over all ranks. Blocks until all have called, without limit of its own (back
  // pressure is not a fault). Empty: superseded - a newer generation exists, or a peer's connection
  // broke (the implementation has then advanced the generation counter). The group is dead from
  // then on: join the newest generation. Ranks with vectors of unequal size: InternalError.
  virtual std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                          std::vector<std::int64_t> values) = 0;
};

// The generation counter that all ranks share, and the way into a generation. Thread-safe.
class Membership {
 public:
  virtual ~Membership() = default;

  // The newest generation. Cheap: polled by every wait of a collate.
  virtual std::int64_t generation() = 0;

  // Compare-and-set: if the counter still is `from`, it becomes `from` + 1. Either way the caller
  // then joins generation(). True: this caller moved it.
  virtual bool advance(std::int64_t from) = 0;

  // Joins generation `generation`, which the caller has recorded where the fork server looks.
  // Blocks until all ranks have joined; null when a newer generation appears meanwhile. Once a
  // generation: a rank that needs to join again advances the counter first.
  virtual std::unique_ptr<Peers> join(std::int64_t generation) = 0;
};

}  // namespace odb
