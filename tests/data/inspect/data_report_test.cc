#include "data/inspect/data_report.h"

#include <nlohmann/json.hpp>

#include "catch.h"

using namespace odb;

namespace {

RowLength trained(std::uint32_t length, std::uint32_t supervised) {
  return {.length = length, .supervised = supervised};
}

RowLength left_out(LeftOutReason reason, std::uint32_t length = 0) {
  RowLength row{.length = length};
  row.set_reason(reason);
  return row;
}

DataReport example() {
  DataReport report =
      make_report({{trained(10, 4), trained(20, 5), left_out(LeftOutReason::bad_record)},
                   {trained(200, 50), left_out(LeftOutReason::cut_away, 300)}},
                  100);
  report.chat_template = "chatml";
  report.problems = {"a.jsonl:3: found null; expected an object"};
  report.files = {
      {.path = "a.jsonl", .layout = "lines", .rows = 3, .rows_by_format = {2, 0, 0, 0, 0, 0}},
      {.path = "b.json",
       .layout = "array",
       .rows = 2,
       .weight = 0.5,
       .rows_by_format = {0, 0, 1, 0, 1, 0}}};
  return report;
}

}  // namespace

TEST_CASE("Lengths are summarized") {
  const LengthSummary summary = summarize_lengths({4, 1, 2, 40, 3}, 10);
  CHECK(summary.shortest == 1);
  CHECK(summary.median == 3);
  CHECK(summary.percentile_90 == 40);
  CHECK(summary.percentile_99 == 40);
  CHECK(summary.longest == 40);
  CHECK(summary.mean == 10);
  CHECK(summary.variation == Approx(1.5033).epsilon(1e-4));  // sqrt((36+81+64+900+49)/5)/10
  CHECK(summary.short_share == Approx(0.8));
  REQUIRE(summary.histogram.size() == 6);  // bars of 8
  CHECK(summary.histogram[0].samples == 4);
  CHECK(summary.histogram[0].below == 8);
  CHECK(summary.histogram[5].from == 40);
  CHECK(summary.histogram[5].samples == 1);
}

TEST_CASE("Percentiles by the nearest rank") {
  std::vector<std::int64_t> lengths;
  for (int i = 1; i <= 200; ++i)
    lengths.push_back(i);
  const LengthSummary summary = summarize_lengths(lengths);
  CHECK(summary.median == 100);
  CHECK(summary.percentile_90 == 180);
  CHECK(summary.percentile_99 == 198);
  CHECK(summary.histogram.size() <= 20);
  CHECK(summarize_lengths({7}).median == 7);
  CHECK(summarize_lengths({}).longest == 0);
}

TEST_CASE("Only trained rows count, cut ones at their cut length") {
  const DataReport report = example();
  CHECK(report.rows() == 5);
  CHECK(report.trained() == 3);
  CHECK(report.tokens == 130);
  CHECK(report.supervised == 59);
  CHECK(report.truncated == 1);
  CHECK(report.before_cut.longest == 200);
  CHECK(report.after_cut.longest == 100);
  CHECK(report.rows_by_reason == std::array<std::int64_t, 5>{3, 1, 0, 0, 1});
}

TEST_CASE("The suggested budget holds the longest sample and eight average ones") {
  const auto suggestion = [](std::vector<RowLength> rows) {
    return make_report({std::move(rows)}, 0).suggested_l_max;
  };
  CHECK(suggestion({trained(1000, 1), trained(1000, 1)}) == 8192);
  CHECK(suggestion({trained(5000, 1), trained(10, 1), trained(10, 1)}) == 14336);
  CHECK(suggestion({trained(9000, 1), trained(1, 1), trained(1, 1), trained(1, 1), trained(1, 1),
                    trained(1, 1), trained(1, 1), trained(1, 1), trained(1, 1), trained(1, 1)}) ==
        9216);
  CHECK(suggestion({trained(3, 1)}) == 1024);
  CHECK(suggestion({left_out(LeftOutReason::bad_record)}) == 0);
}

TEST_CASE("The report as text") {
  const std::string text = report_text(example());
  for (const std::string line :
       {"a.jsonl: 3 rows (lines), 2 messages\n",
        "b.json: 2 rows (array), weight 0.5, 1 alpaca, 1 text\n", "chat template: chatml\n",
        "trained: 3 of 5 rows, 130 tokens, 59 supervised (45.4 %)\n",
        "left out: 1 rows (20.00 %): bad record\n",
        "left out: 1 rows (20.00 %): answers behind the cutoff length\n",
        "  a.jsonl:3: found null; expected an object\n", "cut at 100 tokens: 1 samples (33.33 %)\n",
        "          8 - 15                 1  ##################################################\n",
        ("suggested: --l-max 1024: holds the longest sample (100 tokens) and about 23 average ones "
         "(44 tokens)")})
    CHECK_THAT(text, Catch::Contains(line));
}

TEST_CASE("The histogram begins at the shortest sample, a bar of one length shows only that") {
  CHECK_THAT(report_text(example()), !Catch::Contains(" 0 - 7"));
  const std::string text =
      report_text(make_report({{trained(14, 1), trained(16, 1), trained(16, 1)}}, 0));
  CHECK_THAT(text, Catch::Contains("longest)\n"
                                   "         14                      1  #########################\n"
                                   "         15                      0\n"
                                   "         16                      2  ####################"));
}

TEST_CASE("The report as JSON and SVG") {
  const auto json = nlohmann::json::parse(report_json(example()));
  CHECK(json["files"][1]["formats"] == nlohmann::json({{"alpaca", 1}, {"text", 1}}));
  CHECK(json["left_out"]["bad record"] == 1);
  CHECK(json["left_out"]["no supervised token"] == 0);
  CHECK(json["truncated_share"] == Approx(1.0 / 3));
  CHECK(json["supervised_share"] == Approx(59.0 / 130));
  CHECK(json["after_cut"]["longest"] == 100);
  CHECK(json["suggested_l_max"] == 1024);
  const std::string svg = report_svg(example());
  CHECK_THAT(svg, Catch::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK_THAT(svg, Catch::EndsWith("</svg>\n"));
  CHECK_THAT(svg, Catch::Contains("<title>8 to 15 tokens: 1 samples</title>"));
  CHECK_THAT(report_svg(make_report({{left_out(LeftOutReason::bad_record)}}, 0)),
             Catch::EndsWith("</svg>\n"));
}
