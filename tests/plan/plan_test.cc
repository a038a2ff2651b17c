// The plan's rows, its table and JSON, its options.
#include "plan/plan.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/options/command_line.h"
#include "catch.h"
#include "plan/lengths.h"
#include "plan/plan_options.h"
#include "plan/plan_plot.h"
#include "plan/plan_report.h"

using namespace odb;

namespace {

LengthTable small_lengths(std::int64_t ranks) {
  return std::make_shared<const std::vector<std::int32_t>>(named_lengths("mix", 200 * ranks, 0));
}

std::vector<PlanRow> plan(const PlanOptions& options) {
  return make_plan(options, small_lengths, [](const std::string&) {});
}

using Words = std::vector<std::string>;

PlanOptions parsed(const Words& words) {
  PlanOptions options;
  OptionTable table;
  describe(table, options);
  read_command_line(table, {.name = "plan", .summary = "x"}, words, 80);
  return options;
}

std::vector<std::string> names_of(const std::vector<PlanRow>& rows) {
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const PlanRow& row : rows)
    names.push_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("by default all strategies are compared, in their usual layouts") {
  const std::vector<PlanRow> rows = plan({});
  CHECK(names_of(rows) ==
        Words{"standard", "sorted", "bucket", "gmt", "bmt", "packing", "odb", "odb-padded"});
  for (const PlanRow& row : rows) {
    INFO(row.name);
    const bool flat = row.name == "packing" || row.name == "odb";
    CHECK(row.options.layout == (flat ? Layout::flat : Layout::padded));
    CHECK(row.ranks == 8);
    CHECK(row.result.samples == 1600);
  }
  CHECK(rows.front().speedup_over_standard == 1);
  CHECK(rows.back().speedup_over_standard > 1);
}

TEST_CASE("a given layout or grouping applies to every strategy that supports it") {
  PlanOptions options;
  options.layout = Layout::padded;
  std::vector<PlanRow> rows = plan(options);
  CHECK(names_of(rows) == Words{"standard", "sorted", "bucket", "gmt", "bmt", "packing", "odb"});
  CHECK(rows[5].options.layout == Layout::flat);
  CHECK(rows[6].options.layout == Layout::padded);
  CHECK(rows[6].options.grouping == Grouping::greedy);

  options = {};
  options.strategies = {Strategy::odb};
  options.grouping = Grouping::fit;
  rows = plan(options);
  CHECK(names_of(rows) == Words{"odb"});

  options.layout = Layout::padded;  // fit and padded cannot be combined
  CHECK_THROWS_AS(plan(options), UsageError);
}

TEST_CASE("each combination of ranks and swept values gives a row, grouped by strategy") {
  PlanOptions options;
  options.strategies = {Strategy::odb, Strategy::gmt};
  options.layout = Layout::padded;
  options.pad_multiple = {8, 32};
  options.ranks = {2, 4};
  const std::vector<PlanRow> rows = plan(options);
  CHECK(names_of(rows) == Words{"odb", "odb", "odb", "odb", "gmt", "gmt", "gmt", "gmt"});
  CHECK(rows[1].options.pad_multiple == 8);
  CHECK(rows[1].ranks == 4);
  CHECK(rows[2].options.pad_multiple == 32);
  CHECK(rows[2].ranks == 2);
  CHECK(rows[1].result.samples == 800);
  CHECK(rows[2].result.padding_fraction > rows[0].result.padding_fraction);
  const auto swept = swept_options(options);
  REQUIRE(swept.size() == 2);
  CHECK(swept[0].name == "pad-multiple");
  CHECK(swept[1].name == "ranks");
}

TEST_CASE("the table has a line per row and a column per swept option") {
  PlanOptions options;
  options.strategies = {Strategy::standard, Strategy::odb};
  std::string table = plan_table(options, plan(options));
  CHECK(std::count(table.begin(), table.end(), '\n') == 4);
  CHECK_THAT(table, Catch::StartsWith("strategy    layout  steps  padding"));
  options.ranks = {2, 16};
  table = plan_table(options, plan(options));
  CHECK_THAT(table, Catch::StartsWith("strategy    layout  ranks  steps"));
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 6 + 2);  // blank lines between
}

TEST_CASE("the JSON holds the documented keys") {
  PlanOptions options;
  options.strategies = {Strategy::gmt, Strategy::odb};
  const auto rows = plan(options);
  const auto document = nlohmann::json::parse(plan_json(options, rows));
  CHECK(document["lengths"] == "chat");
  CHECK(document["step_time"]["seconds_per_slot"] == 5e-3);
  REQUIRE(document["strategies"].size() == rows.size());
  const nlohmann::json& first = document["strategies"][0];
  CHECK(first["name"] == "gmt");
  CHECK(first["grouping"].is_null());
  CHECK(document["strategies"][1]["grouping"] == "fit");
  CHECK(first["steps"] == rows[0].result.steps);
  for (const char* key : {"ranks",
                          "l_max",
                          "window",
                          "round_groups",
                          "depth",
                          "pad_multiple",
                          "batch_size",
                          "samples",
                          "tokens",
                          "positions",
                          "rounds",
                          "steps",
                          "tail_steps",
                          "groups",
                          "largest_group",
                          "padding_fraction",
                          "budget_fill",
                          "budget_fill_before_tail",
                          "idle_fraction",
                          "straggler_fraction",
                          "idle_time_fraction",
                          "data_wait_fraction",
                          "seconds",
                          "tokens_per_second",
                          "speedup_over_standard",
                          "tokens_per_step_cv",
                          "mean_length",
                          "length_bias",
                          "first_tenth_length",
                          "last_tenth_length"}) {
    INFO(key);
    REQUIRE(first.contains(key));
    CHECK(first[key].is_number());
  }
}

TEST_CASE("the memory of a plan is known before it is allocated") {
  PlanOptions options;
  CHECK(memory_needed(options, 2'000'000'000) == 68'000'000'000);
  options.strategies = {Strategy::odb, Strategy::standard};
  CHECK(memory_needed(options, 2'000'000'000) == 8'000'000'000);
  options.strategies.push_back(Strategy::gmt);
  CHECK(memory_needed(options, 1000) == 34'000);
}

TEST_CASE("options of plan") {
  PlanOptions untouched;
  OptionTable table;
  describe(table, untouched);
  table.check_declarations();

  const PlanOptions options = parsed({"--ranks", "8", "--ranks", "1024", "--layout", "padded",
                                      "--batching", "odb", "--l-max", "4096", "--json"});
  CHECK(options.ranks == std::vector<std::int64_t>{8, 1024});
  CHECK(options.layout == Layout::padded);
  CHECK(options.strategies == std::vector<Strategy>{Strategy::odb});
  CHECK(options.l_max == std::vector<std::int64_t>{4096});
  CHECK(options.json);

  for (const Words& words : {Words{"--l-max", "0"},
                             Words{"--ranks", "0"},
                             Words{"--samples", "0"},
                             Words{"--window", "0"},
                             Words{"--batching", "fastest"},
                             Words{"--seconds-per-position", "0"},
                             Words{"--plot", "x.svg"},
                             Words{"--window", "8", "--window", "9", "--window", "8"},
                             Words{"--batching", "odb", "--batching", "odb"},
                             Words{"--batching", "packing", "--layout", "padded"},
                             Words{"--samples", "4294967295"},
                             Words{"--ranks", "2", "--ranks", "4", "--plot", ""},
                             Words{"--seconds-per-slot", "1e308"},
                             Words{"--seconds-per-position", "1e-320"},
                             Words{"--seconds-per-square", "1e308"},
                             Words{"--gradient-bytes", "1e308"},
                             Words{"--link-bytes-per-second", "1e-320"},
                             Words{"--latency-seconds", "1e308"},
                             Words{"--seconds-per-sample", "1e-320"},
                             Words{"--window", "1", "--window", "2", "--depth", "1", "--depth", "2",
                                   "--plot", "x.svg"}}) {
    INFO(words.front() << " " << words[1]);
    CHECK_THROWS_AS(parsed(words), UsageError);
  }
  CHECK(parsed({"--ranks", "2", "--ranks", "4", "--plot", "x.svg"}).plot == "x.svg");
}

TEST_CASE("a sweep is drawn: six charts, a line per strategy and number of ranks") {
  PlanOptions options;
  options.strategies = {Strategy::gmt, Strategy::odb};
  options.window = {64, 16};
  options.ranks = {2, 4};
  const std::string svg = plan_plot(options, plan(options));
  CHECK_THAT(svg, Catch::StartsWith("<svg "));
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1))
      ++found;
    return found;
  };
  CHECK(count("<polyline") == 6 * 3 * 2);
  CHECK(count("<circle") == 6 * 3 * 2 * 2);
  CHECK(count("stroke-dasharray") == (6 + 1) * 3);
  CHECK(count(">odb-padded, 4 ranks<") == 1);
  CHECK(svg.find(">16</text>") < svg.find(">64</text>"));  // in the order of the values
}
