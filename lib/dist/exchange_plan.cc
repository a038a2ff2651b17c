#include "dist/exchange_plan.h"

#include <bit>

#include "base/error.h"

namespace odb {

std::vector<Exchange> exchange_plan(int rank, int world) {
  ODB_CHECK(world >= 1 && rank >= 0 && rank < world, "rank {} of {}", rank, world);
  const int doubling = static_cast<int>(std::bit_floor(static_cast<unsigned>(world)));
  if (rank >= doubling)
    return {{ExchangeKind::give, rank - doubling}, {ExchangeKind::replace, rank - doubling}};
  const int partner = rank + doubling;
  std::vector<Exchange> plan;
  if (partner < world) plan.push_back({ExchangeKind::take, partner});
  for (int bit = 1; bit < doubling; bit *= 2)
    plan.push_back({ExchangeKind::swap, rank ^ bit});
  if (partner < world) plan.push_back({ExchangeKind::give, partner});
  return plan;
}

}  // namespace odb
