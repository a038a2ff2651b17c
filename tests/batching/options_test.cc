#include "batching/options.h"

#include <limits>

#include "base/error.h"
#include "base/options/command_line.h"
#include "batching/option_table.h"
#include "catch.h"

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

TEST_CASE("values out of range are refused with option, value and range") {
  struct Case {
    void (*change)(BatchingOptions&);
    const char* message;
  };
  const Case cases[] = {
      {[](BatchingOptions& o) { o.l_max = 0; }, "--l-max is 0; wanted a whole number from 1"},
      {[](BatchingOptions& o) { o.l_max = 1ll << 31; }, "--l-max is 2147483648"},
      {[](BatchingOptions& o) { o.window = 0; }, "--window is 0"},
      {[](BatchingOptions& o) { o.round_groups = -1; }, "--round-groups is -1"},
      {[](BatchingOptions& o) { o.pad_multiple = 0; }, "--pad-multiple is 0"},
      {[](BatchingOptions& o) { o.batch_size = 0; }, "--batch-size is 0"},
      {[](BatchingOptions& o) { o.bucket_pool_factor = 0; }, "--bucket-pool-factor is 0"},
      {[](BatchingOptions& o) { o.accumulate = 0; }, "--accumulate is 0"},
      {[](BatchingOptions& o) { o.global_batch_tokens = -5; }, "--global-batch-tokens is -5"},
      {[](BatchingOptions& o) { o.global_batch_samples = 0; }, "--global-batch-samples is 0"},
      {[](BatchingOptions& o) { o.quadratic_cost = -1; }, "quadratic cost"},
      {[](BatchingOptions& o) { o.quadratic_cost = std::numeric_limits<double>::quiet_NaN(); },
       "quadratic cost"},
      {[](BatchingOptions& o) { o.accumulate = o.global_batch_tokens = 5; }, "2 of them are given"},
  };
  for (const Case& c : cases) {
    BatchingOptions o;
    c.change(o);
    INFO(c.message);
    CHECK_THROWS_WITH(resolve(o, Layout::flat), Catch::Contains(c.message));
    CHECK_THROWS_AS(resolve(o, Layout::flat), UsageError);
  }
}

TEST_CASE("the fingerprint names what shapes the sequence, and only that") {
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
                     "--mates",
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

TEST_CASE("a step length given twice is refused by the table") {
  BatchingOptions o;
  OptionTable table;
  describe(table, o);
  CHECK_THROWS_AS(read_command_line(table, {.name = "train", .summary = "trains"},
                                    {"--accumulate", "2", "--global-batch-samples", "64"}, 80),
                  UsageError);
}
