#include "plan/charts.h"

#include "catch.h"

using namespace odb;

TEST_CASE("axes run from 0 to at least the highest value, in round steps") {
  struct Case {
    double lowest;
    double highest;
    std::vector<double> ticks;
  };
  const Case cases[] = {{0, 10, {0, 2, 4, 6, 8, 10}},
                        {0, 5.3, {0, 2, 4, 6}},
                        {0.5, 99.9, {0, 20, 40, 60, 80, 100}},
                        {0, 0, {0, 0.2, 0.4, 0.6, 0.8, 1}},
                        {-3, 4, {-4, -2, 0, 2, 4}},
                        {0, 12000, {0, 5000, 10000, 15000}}};
  for (const Case& c : cases) {
    INFO(c.lowest << ".." << c.highest);
    const std::vector<double> ticks = axis_ticks(c.lowest, c.highest);
    REQUIRE(ticks.size() == c.ticks.size());
    for (std::size_t i = 0; i < ticks.size(); ++i)
      CHECK(ticks[i] == Approx(c.ticks[i]).margin(1e-12));
  }
}

TEST_CASE("texts are escaped, lines are drawn from left to right") {
  const std::string svg = draw_svg(
      {.title = "a < b & c > d",
       .x_title = "x",
       .x_places = {"1", "2"},
       .legend = {{.text = "one", .color = "#000000"}},
       .charts = {
           {.title = "t", .decimals = 0, .lines = {{.color = "#000000", .values = {0, 10}}}}}});
  CHECK(svg.find(">a &lt; b &amp; c &gt; d</text>") != std::string::npos);
  CHECK(svg.find("<polyline points=\"134.5,") != std::string::npos);
  CHECK_THAT(svg, Catch::EndsWith("</svg>\n"));
}
