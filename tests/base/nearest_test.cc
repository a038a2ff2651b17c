#include "base/nearest.h"

#include "catch.h"

using namespace odb;
using Names = std::vector<std::string>;

TEST_CASE("the nearest names are found by prefix, then by edit distance") {
  const Names known = {"l-max",      "layout", "lr", "global-batch-tokens", "global-batch-samples",
                       "cutoff-len", "epochs"};
  struct Row {
    const char* name;
    Names nearest;
  };
  const Row rows[] = {
      {"l-maxx", {"l-max"}},                                              // one letter too many
      {"l_max", {"l-max"}},                                               // changed
      {"lmax", {"l-max"}},                                                // missing
      {"l-mxa", {"l-max"}},                                               // swapped
      {"epoch", {"epochs"}},                                              // begun
      {"global-batch", {"global-batch-tokens", "global-batch-samples"}},  // begins two
      {"l", {"l-max", "layout", "lr"}},                                   // begins three
      {"rl", {"lr"}},
      {"cut-off-len", {"cutoff-len"}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(nearest_names(row.name, known) == row.nearest);
  }
  CHECK(nearest_names("", {"b", "aa"}) == Names{"b"});
  CHECK(nearest_names("x", {}).empty());
  CHECK(nearest_names("xy", {"ab"}).empty());
  CHECK(nearest_names("train", {"plan"}).empty());
  CHECK(nearest_names("learningrate", {"learning-rat"}) == Names{"learning-rat"});
  CHECK(nearest_names("a", {"b", "c", "d", "e"}) == Names{"b", "c", "d"});
}

TEST_CASE("a suggestion is a question") {
  CHECK(did_you_mean("trian", {"train", "report"}, "help") == "did you mean train?");
  CHECK(did_you_mean("re", {"report", "resume"}, "help") == "did you mean report or resume?");
  CHECK(did_you_mean("x", {}, "help lists all") == "help lists all");
  CHECK(did_you_mean("train", {"plan", "report"}, "help lists all") == "help lists all");
}
