// The long part: three hundred seeds.
#include "training_seeds.h"

using namespace odb;

TEST_CASE("Trainings in which one process is killed or stopped at any moment, at length") {
  check_moments(1000, 200);
}

TEST_CASE("Trainings of one rank under faults at length") {
  check_seeds(100, 40, 1);
}

TEST_CASE("Trainings of two ranks under faults at length") {
  check_seeds(200, 35, 2);
}

TEST_CASE("Trainings of three ranks under faults at length") {
  check_seeds(300, 25, 3);
}
