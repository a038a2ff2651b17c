// Which options ranks must share.
#include "train/session/same_options.h"

#include "catch.h"

namespace odb {

TEST_CASE("Options that differ between ranks are reported with both values") {
  const char* first =
      R"({"lr": 1e-5, "max_steps": 3, "data": ["a", "b"], "rank": 0, "threads": 1})";
  CHECK(differing_options(first, first).empty());
  CHECK(differing_options(R"({"lr": 1e-5, "max_steps": 6, "data": ["c", "d"], "rank": 1})",
                          first) == "max_steps: 6 here, 3 on rank 0");
  CHECK(differing_options(R"({"lr": 1e-4, "max_steps": null, "data": ["a"]})", first) ==
        "lr: 0.0001 here, 1e-05 on rank 0; max_steps: null here, 3 on rank 0; "
        "data: 1 files here, 2 on rank 0");
}

TEST_CASE("At most five options that differ are reported") {
  CHECK(differing_options(R"({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1})", "{}") ==
        "a: 1 here, unknown on rank 0; b: 1 here, unknown on rank 0; c: 1 here, unknown on rank 0; "
        "d: 1 here, unknown on rank 0; e: 1 here, unknown on rank 0; 2 more");
}

}  // namespace odb
