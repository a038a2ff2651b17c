#include "base/percentile.h"

#include "catch.h"

using namespace odb;

TEST_CASE("a percentile is a measured value: the smallest that enough values do not exceed") {
  const std::vector<int> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  CHECK(percentile(ten, 0) == 1);
  CHECK(percentile(ten, 50) == 5);
  CHECK(percentile(ten, 51) == 6);
  CHECK(percentile(ten, 90) == 9);
  CHECK(percentile(ten, 99) == 10);
  CHECK(percentile(ten, 100) == 10);
  CHECK(percentile(std::vector{7}, 99) == 7);
  CHECK_THROWS_AS(percentile(std::vector<int>{}, 50), InternalError);
}

TEST_CASE("a median needs no order, and is the lower of two in the middle") {
  CHECK(median(std::vector{3.5, 1.5, 2.5}) == 2.5);
  CHECK(median(std::vector{4, 1, 3, 2}) == 2);
}
