// Which ranks exchange in an all-reduce of a few numbers: recursive doubling, log2(W) exchanges
// where a ring takes 2 (W - 1). (Thakur, Rabenseifner, Gropp: Optimization of Collective
// Communication Operations in MPICH, 2005, section 4.5.)
//
// Of W ranks, the P = 2^k <= W first ones exchange with the rank whose number differs in one bit,
// bit after bit. Each of the W - P others sends its numbers to its partner, rank - P, before, and
// receives the result after. Integer sums and maxima: the order changes nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace odb {

enum class ExchangeKind : std::uint8_t {
  swap,     // both send what they have and combine
  give,     // send this rank's numbers
  take,     // receive and combine
  replace,  // receive the result
};

struct Exchange {
  ExchangeKind kind = ExchangeKind::swap;
  int peer = 0;

  friend bool operator==(const Exchange&, const Exchange&) = default;
};

// The exchanges of `rank`, in their order. Empty when world is 1.
std::vector<Exchange> exchange_plan(int rank, int world);

}  // namespace odb
