// The long part: a hundred seeds.
#include "training_seeds.h"

using namespace odb;

TEST_CASE("Trainings of one rank under faults at length") {
  check_seeds(100, 40, 1);
}

TEST_CASE("Trainings of two ranks under faults at length") {
  check_seeds(200, 35, 2);
}

TEST_CASE("Trainings of three ranks under faults at length") {
  check_seeds(300, 25, 3);
}
