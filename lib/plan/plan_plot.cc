#include "plan/plan_plot.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/error.h"
#include "plan/charts.h"

namespace odb {
namespace {

// Okabe and Ito's palette, distinguishable for most color-blind readers.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#e69f00",
                                    "#cc79a7", "#56b4e9", "#000000", "#999999"};

struct Quantity {
  const char* title;
  int decimals;
  double (*of)(const PlanRow& row);
};

constexpr Quantity kQuantities[] = {
    {"speedup over standard", 1, [](const PlanRow& row) { return row.speedup_over_standard; }},
    {"padding, %", 0, [](const PlanRow& row) { return 100 * row.result.padding_fraction; }},
    {"budget fill, %", 0, [](const PlanRow& row) { return 100 * row.result.budget_fill; }},
    {"waiting for the slowest rank, %", 0,
     [](const PlanRow& row) { return 100 * row.result.straggler_fraction; }},
    {"without data at the end, %", 1,
     [](const PlanRow& row) { return 100 * row.result.idle_fraction; }},
    {"waiting for data, %", 1,
     [](const PlanRow& row) { return 100 * row.result.data_wait_fraction; }}};

// The rows of one strategy at one number of ranks, in the order of the swept option.
struct Series {
  std::string name;
  std::int64_t ranks = 0;
  std::vector<const PlanRow*> rows;
};

std::vector<Series> make_series(const std::vector<PlanRow>& rows, const SweptOption& swept) {
  const bool over_ranks = swept.name == "ranks";
  std::vector<Series> all;
  for (const PlanRow& row : rows) {
    const std::int64_t ranks = over_ranks ? 0 : row.ranks;
    auto place = std::find_if(all.begin(), all.end(), [&](const Series& series) {
      return series.name == row.name && series.ranks == ranks;
    });
    if (place == all.end()) place = all.insert(place, {row.name, ranks, {}});
    place->rows.push_back(&row);
  }
  for (Series& series : all)
    std::stable_sort(
        series.rows.begin(), series.rows.end(),
        [&](const PlanRow* a, const PlanRow* b) { return swept.of_row(*a) < swept.of_row(*b); });
  return all;
}

}  // namespace

std::string plan_plot(const PlanOptions& options, const std::vector<PlanRow>& rows) {
  const std::vector<SweptOption> all_swept = swept_options(options);
  ODB_CHECK(!all_swept.empty() && !rows.empty(), "{} options are swept over {} rows",
            all_swept.size(), rows.size());
  const SweptOption& swept = all_swept.front();
  const std::vector<Series> series = make_series(rows, swept);

  ChartSheet sheet{
      .title = fmt::format("Strategies over --{}, lengths {}", swept.name, options.lengths),
      .x_title = "--" + swept.name,
      .x_places = {},
      .legend = {},
      .charts = {}};
  for (const PlanRow* row : series.front().rows)
    sheet.x_places.push_back(fmt::format("{}", swept.of_row(*row)));
  for (const Quantity& quantity : kQuantities)
    sheet.charts.push_back({.title = quantity.title, .decimals = quantity.decimals, .lines = {}});

  std::vector<std::string> names;
  for (const Series& one : series) {
    auto place = std::find(names.begin(), names.end(), one.name);
    if (place == names.end()) place = names.insert(place, one.name);
    const std::string color =
        kColours[static_cast<std::size_t>(place - names.begin()) % std::size(kColours)];
    const bool dashed = one.ranks != series.front().ranks;
    const std::string ranks =
        all_swept.size() > 1 ? fmt::format(", {} ranks", one.ranks) : std::string();
    sheet.legend.push_back({.text = one.name + ranks, .color = color, .dashed = dashed});
    for (std::size_t i = 0; i < std::size(kQuantities); ++i) {
      ChartLine line{.color = color, .dashed = dashed, .values = {}};
      for (const PlanRow* row : one.rows)
        line.values.push_back(kQuantities[i].of(*row));
      sheet.charts[i].lines.push_back(std::move(line));
    }
  }
  return draw_svg(sheet);
}

}  // namespace odb
