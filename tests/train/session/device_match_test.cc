// Which ranks may not train together.
#include "catch.h"
#include "train/session/same_options.h"

namespace odb {

TEST_CASE("Ranks on devices of one kind train together") {
  CHECK(device_mismatch({1, "NVIDIA H200"}, {0, "NVIDIA H200"}).empty());
  CHECK(device_mismatch({3, "cpu"}, {0, "cpu"}).empty());
  CHECK(device_mismatch({3, ""}, {0, ""}).empty());  // --mixed-devices on
}

TEST_CASE("A rank on another device is refused, with both ranks and both devices") {
  const std::string gpus = device_mismatch({5, "NVIDIA A100-SXM4-80GB"}, {0, "NVIDIA H200"});
  CHECK_THAT(gpus, Catch::Contains("rank 5 computes on NVIDIA A100-SXM4-80GB, rank 0 on NVIDIA "
                                   "H200; expected devices of one kind"));
  CHECK_THAT(gpus, Catch::Contains("--mixed-devices"));
  CHECK_THAT(device_mismatch({1, "cpu"}, {0, "NVIDIA H200"}),
             Catch::Contains("rank 1 computes on cpu, rank 0 on NVIDIA H200"));
}

}  // namespace odb
