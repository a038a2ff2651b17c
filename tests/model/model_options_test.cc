#include "model/model_options.h"

#include "catch.h"

using namespace odb;

TEST_CASE("The names of the model's options are fixed") {
  ModelOptions options;
  OptionTable table;
  describe(table, options);
  CHECK(table.names() == std::vector<std::string>{"model", "dtype", "recompute", "init"});
  CHECK_NOTHROW(table.check_declarations());
}
