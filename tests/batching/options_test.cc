#include "batching/options.h"

#include <limits>

#include "base/error.h"
#include "base/options/command_line.h"
#include "batching/option_table.h"
#include "catch.h"
#include "temporary_folder.h"

using namespace odb;

TEST_CASE("auto follows the model's layout, and the layout decides the grouping") {
  BatchingOptions o;
  CHECK(resolve(o, Layout::flat).layout == Layout::flat);
  CHECK(resolve(o, Layout::flat).grouping == Grouping::fit);
  CHECK(resolve(o, Layout::padded).grouping == Grouping::greedy);
  CHECK(resolve(o, Layout::flat).accumulate == 1);
  o.layout = Layout::padded;
  CHECK(resolve(o, Layout::flat).layout == Layout::padded);
  o.grouping = Grouping::fit;
  CHECK_THROWS_WITH(resolve(o, Layout::flat),
                    Catch::Contains("--grouping fit with --layout padded"));
}

TEST_CASE("packing requires the flat layout, which is checked before any length is known") {
  BatchingOptions o;
  o.strategy = Strategy::packing;
  CHECK(resolve(o, Layout::flat).layout == Layout::flat);
  CHECK_THROWS_WITH(resolve(o, Layout::padded),
                    Catch::Contains("--batching packing with --layout padded"));
}

TEST_CASE("an invalid quadratic cost is refused") {
  for (const double cost : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    BatchingOptions o;
    o.quadratic_cost = cost;
    CHECK_THROWS_WITH(resolve(o, Layout::flat), Catch::Contains("quadratic cost"));
    CHECK_THROWS_AS(resolve(o, Layout::flat), UsageError);
  }
}

TEST_CASE("values out of range are refused by the table, with option, value and range") {
  const std::pair<const char*, const char*> cases[] = {
      {"--l-max=0", "--l-max: found '0', expected an integer, at least 1, at most 2147483647"},
      {"--l-max=2147483648", "--l-max: found '2147483648'"},
      {"--window=0", "--window: found '0'"},
      {"--round-groups=-1", "--round-groups: found '-1'"},
      {"--pad-multiple=0", "--pad-multiple: found '0'"},
      {"--batch-size=0", "--batch-size: found '0'"},
      {"--bucket-pool-factor=0", "--bucket-pool-factor: found '0'"},
      {"--accumulate=0", "--accumulate: found '0'"},
      {"--global-batch-tokens=-5", "--global-batch-tokens: found '-5'"},
      {"--global-batch-samples=0", "--global-batch-samples: found '0'"},
  };
  for (const auto& [flag, message] : cases) {
    BatchingOptions o;
    OptionTable table;
    describe(table, o);
    INFO(flag);
    CHECK_THROWS_WITH(read_command_line(table, {.name = "train", .summary = "trains"}, {flag}, 80),
                      Catch::StartsWith(message));
  }
}

TEST_CASE("the fingerprint names exactly the options that determine the sequence") {
  const BatchingOptions base = resolve({}, Layout::flat);
  CHECK(options_fingerprint(base) ==
        "batching=odb l-max=8192 layout=flat grouping=fit align=balanced round-groups=16 "
        "mates=cost join=on window=1024 pad-multiple=8 batch-size=8 bucket-pool-factor=50 "
        "quadratic-cost=0");
  BatchingOptions steps = base;
  steps.accumulate = 4;
  steps.loss_norm = LossNorm::sample;
  CHECK(options_fingerprint(steps) == options_fingerprint(base));
  BatchingOptions other = base;
  other.l_max = 4096;
  CHECK(options_fingerprint(other) != options_fingerprint(base));
  CHECK_THROWS_AS(options_fingerprint({}), InternalError);
}

TEST_CASE("every option is in the table, and flags reach the struct") {
  BatchingOptions o;
  OptionTable table;
  describe(table, o);
  REQUIRE_NOTHROW(table.check_declarations());
  read_command_line(table, {.name = "train", .summary = "trains"},
                    {"--batching",
                     "gmt",
                     "--l-max",
                     "4096",
                     "--layout",
                     "padded",
                     "--grouping",
                     "greedy",
                     "--align",
                     "paper",
                     "--round-groups",
                     "8",
                     "--pair-by",
                     "random",
                     "--join",
                     "off",
                     "--window",
                     "512",
                     "--pad-multiple",
                     "16",
                     "--batch-size",
                     "4",
                     "--bucket-pool-factor",
                     "20",
                     "--global-batch-tokens",
                     "100000",
                     "--loss-norm",
                     "rank-mean"},
                    80);
  o = resolve(o, Layout::flat);
  CHECK(options_fingerprint(o) ==
        "batching=gmt l-max=4096 layout=padded grouping=greedy align=paper round-groups=8 "
        "mates=random join=off window=512 pad-multiple=16 batch-size=4 bucket-pool-factor=20 "
        "quadratic-cost=0");
  CHECK(o.global_batch_tokens == 100000);
  CHECK_FALSE(o.accumulate);
  CHECK(o.loss_norm == LossNorm::rank_mean);
}

TEST_CASE("an option that the strategy does not use is refused, unless it is a printed default") {
  const auto refused = [](const std::vector<std::string>& arguments) -> std::string {
    BatchingOptions options;
    OptionTable table;
    describe(table, options);
    try {
      read_command_line(table, {.name = "train", .summary = "trains"}, arguments, 80);
      refuse_unused(options, arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  // Also the value that is the default: the user expects something of it.
  for (const std::string value : {"4", "8"})
    CHECK(refused({"--batch-size", value}) ==
          "--batch-size " + value +
              " has no effect with --batching odb, whose micro-batches have up to --l-max tokens; "
              "give --l-max, or --batching standard, sorted or bucket");
  for (const std::string strategy : {"gmt", "bmt", "packing"})
    CHECK_THAT(refused({"--batching", strategy, "--batch-size", "4"}),
               Catch::Contains("no effect with --batching " + strategy));
  for (const std::string strategy : {"standard", "sorted", "bucket"})
    CHECK(refused({"--batching", strategy, "--batch-size", "4"}).empty());
  CHECK(refused({"--batching", "standard", "--bucket-pool-factor", "4"}) ==
        "--bucket-pool-factor 4 has no effect with --batching standard; it is for --batching "
        "bucket");
  CHECK(refused({"--batching", "bucket", "--bucket-pool-factor", "4"}).empty());

  const TemporaryFolder folder;
  const auto config = [&](const std::string& text) {
    return refused({"--config", folder.write("a.json", text)});
  };
  CHECK(config(R"({"batching": "odb", "batch_size": 8, "bucket_pool_factor": 50})").empty());
  CHECK_THAT(config(R"({"batch_size": 4})"), Catch::StartsWith("--batch-size 4 has no effect"));
}

TEST_CASE("a step length given twice is refused by the table") {
  BatchingOptions o;
  OptionTable table;
  describe(table, o);
  CHECK_THROWS_AS(read_command_line(table, {.name = "train", .summary = "trains"},
                                    {"--accumulate", "2", "--global-batch-samples", "64"}, 80),
                  UsageError);
}
