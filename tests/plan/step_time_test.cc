#include "plan/step_time.h"

#include "catch.h"

using namespace odb;

namespace {

const StepTime kRound = {.seconds_per_slot = 1,
                         .seconds_per_position = 0.1,
                         .seconds_per_square = 0.01,
                         .gradient_bytes = 800,
                         .link_bytes_per_second = 100,
                         .latency_seconds = 0.5};

GroupSums rows(std::initializer_list<std::int32_t> lengths) {
  GroupSums sums;
  for (const std::int32_t length : lengths)
    sums.add({.view = 0, .length = length, .supervised = length});
  return sums;
}

}  // namespace

TEST_CASE("compute time counts what the layout computes") {
  const GroupSums sums = rows({3, 5});
  CHECK(kRound.compute_seconds({.layout = Layout::flat}, sums) == Approx(1 + 0.8 + 0.34));
  // Two rows of 8: 16 positions, 2 x 64 squares.
  CHECK(kRound.compute_seconds({.layout = Layout::padded, .pad_multiple = 8}, sums) ==
        Approx(1 + 1.6 + 1.28));
  CHECK(kRound.quadratic_cost() == Approx(0.1));
}

TEST_CASE("cost with quadratic_cost() is the compute time without its constant part") {
  for (const Layout layout : {Layout::flat, Layout::padded}) {
    const CostModel model{
        .layout = layout, .pad_multiple = 4, .quadratic_cost = kRound.quadratic_cost()};
    const GroupSums sums = rows({3, 5, 11});
    CHECK(kRound.seconds_per_position * model.cost(sums) ==
          Approx(kRound.compute_seconds(model, sums) - kRound.seconds_per_slot));
  }
}

TEST_CASE("an all-reduce follows the ring model and overlaps the backward pass") {
  CHECK(kRound.all_reduce_seconds(1) == 0);
  CHECK(kRound.all_reduce_seconds(2) == Approx(2 * 0.5 * 8 + 2 * 0.5));
  CHECK(kRound.all_reduce_seconds(4) == Approx(2 * 0.75 * 8 + 2 * 2 * 0.5));
  CHECK(kRound.alignment_seconds(1) == 0);
  CHECK(kRound.alignment_seconds(4) == Approx(2 * 2 * 2 * 0.5));
  CHECK(kRound.slot_seconds(3, 2) == Approx(3 + 9 - 2));
  CHECK(kRound.slot_seconds(30, 2) == Approx(30));
}
