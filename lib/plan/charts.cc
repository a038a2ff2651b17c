#include "plan/charts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.h"

namespace odb {
namespace {

// Sizes in pixels.
constexpr double kMargin = 16;
constexpr double kTitleHeight = 28;
constexpr double kLegendLineHeight = 20;
constexpr double kChartWidth = 330;
constexpr double kChartHeight = 230;
constexpr double kAxisLeft = 52;
constexpr double kAxisTop = 26;
constexpr double kAxisBottom = 34;
constexpr double kAxisRight = 12;
constexpr std::size_t kChartsInRow = 3;
constexpr double kSheetWidth = kChartWidth * kChartsInRow;
constexpr double kLegendSample = 24;
constexpr double kLetterWidth = 7;

std::string line_style(const std::string& color, bool dashed) {
  return fmt::format("stroke=\"{}\" stroke-width=\"2\" fill=\"none\"{}", color,
                     dashed ? " stroke-dasharray=\"6 4\"" : "");
}

// One chart's frame in the drawing, and where values lie in it.
class Frame {
 public:
  Frame(double left, double top, std::size_t places, std::vector<double> ticks)
      : left_(left + kAxisLeft),
        top_(top + kAxisTop),
        width_(kChartWidth - kAxisLeft - kAxisRight),
        height_(kChartHeight - kAxisTop - kAxisBottom),
        places_(static_cast<double>(places)),
        ticks_(std::move(ticks)) {}

  double x(std::size_t place) const {
    return left_ + width_ * (static_cast<double>(place) + 0.5) / places_;
  }
  double y(double value) const {
    return top_ + height_ * (1 - (value - ticks_.front()) / (ticks_.back() - ticks_.front()));
  }

  std::string draw(const Chart& chart, const std::vector<std::string>& x_places) const {
    std::string svg = "<g font-weight=\"bold\">" +
                      svg_text(left_ + width_ / 2, top_ - 10, "middle", chart.title) + "</g>\n";
    for (const double tick : ticks_) {
      svg += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n",
          left_, y(tick), left_ + width_, y(tick));
      svg += svg_text(left_ - 6, y(tick) + 4, "end", fmt::format("{:.{}f}", tick, chart.decimals));
    }
    for (std::size_t place = 0; place < x_places.size(); ++place)
      svg += svg_text(x(place), top_ + height_ + 16, "middle", x_places[place]);
    for (const ChartLine& line : chart.lines)
      svg += draw(line);
    return svg;
  }

 private:
  std::string draw(const ChartLine& line) const {
    std::string points;
    std::string marks;
    for (std::size_t place = 0; place < line.values.size(); ++place) {
      const double height = y(line.values[place]);
      points += fmt::format("{:.1f},{:.1f} ", x(place), height);
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x(place),
                           height, line.color);
    }
    return fmt::format("<polyline points=\"{}\" {}/>\n{}", points,
                       line_style(line.color, line.dashed), marks);
  }

  double left_;
  double top_;
  double width_;
  double height_;
  double places_;
  std::vector<double> ticks_;
};

double legend_width(const LegendEntry& entry) {
  return kLegendSample + 20 + kLetterWidth * static_cast<double>(entry.text.size());
}

// The entries of each line of the legend.
std::vector<std::vector<LegendEntry>> legend_lines(const std::vector<LegendEntry>& legend) {
  std::vector<std::vector<LegendEntry>> lines(1);
  double width = 0;
  for (const LegendEntry& entry : legend) {
    if (!lines.back().empty() && width + legend_width(entry) > kSheetWidth) {
      lines.emplace_back();
      width = 0;
    }
    width += legend_width(entry);
    lines.back().push_back(entry);
  }
  return lines;
}

std::string draw_legend_line(const std::vector<LegendEntry>& entries, double y) {
  std::string svg;
  double left = kMargin;
  for (const LegendEntry& entry : entries) {
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" {3}/>\n",
                       left, y, left + kLegendSample, line_style(entry.color, entry.dashed));
    svg += svg_text(left + kLegendSample + 5, y + 4, "start", entry.text);
    left += legend_width(entry);
  }
  return svg;
}

std::vector<double> ticks_of(const Chart& chart) {
  double lowest = 0;
  double highest = 0;
  for (const ChartLine& line : chart.lines)
    for (const double value : line.values) {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  return axis_ticks(lowest, highest);
}

}  // namespace

std::vector<double> axis_ticks(double lowest, double highest) {
  lowest = std::min(lowest, 0.0);
  if (highest <= lowest) highest = lowest + 1;
  constexpr double kMaxSteps = 5;
  const double min_step = (highest - lowest) / kMaxSteps;
  const double power = std::pow(10, std::floor(std::log10(min_step)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= min_step) step = factor * power;
  std::vector<double> ticks;
  for (double i = std::floor(lowest / step); ticks.empty() || ticks.back() < highest; ++i)
    ticks.push_back(i * step);
  return ticks;
}

std::string draw_svg(const ChartSheet& sheet) {
  const std::size_t rows = (sheet.charts.size() + kChartsInRow - 1) / kChartsInRow;
  const auto legend = legend_lines(sheet.legend);
  const double legend_top = kMargin + kTitleHeight;
  const double charts_top = legend_top + kLegendLineHeight * static_cast<double>(legend.size());
  const double width = 2 * kMargin + kSheetWidth;
  const double height = charts_top + kChartHeight * static_cast<double>(rows) + kMargin + 8;
  std::string svg = svg_begin(width, height);
  svg += "<g font-size=\"15\">" + svg_text(kMargin, kMargin + 12, "start", sheet.title) + "</g>\n";
  for (std::size_t i = 0; i < legend.size(); ++i)
    svg += draw_legend_line(legend[i], legend_top + kLegendLineHeight * static_cast<double>(i));
  for (std::size_t i = 0; i < sheet.charts.size(); ++i) {
    const std::size_t column = i % kChartsInRow;
    const std::size_t row = i / kChartsInRow;
    const double left = kMargin + kChartWidth * static_cast<double>(column);
    const double top = charts_top + kChartHeight * static_cast<double>(row);
    svg += Frame(left, top, sheet.x_places.size(), ticks_of(sheet.charts[i]))
               .draw(sheet.charts[i], sheet.x_places);
  }
  svg += svg_text(width / 2, height - kMargin, "middle", sheet.x_title);
  return svg + "</svg>\n";
}

}  // namespace odb
