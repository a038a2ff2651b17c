// Draws line charts side by side as one SVG text that needs no external file, font or script.
#pragma once

#include <string>
#include <vector>

namespace odb {

struct ChartLine {
  std::string color;  // "#0072b2"
  bool dashed = false;
  std::vector<double> values;  // one per place on the x axis
};

struct Chart {
  std::string title;
  int decimals = 0;  // of the numbers at its y axis
  std::vector<ChartLine> lines;
};

struct LegendEntry {
  std::string text;
  std::string color;
  bool dashed = false;
};

struct ChartSheet {
  std::string title;
  std::string x_title;
  std::vector<std::string> x_places;  // evenly spaced, one or more
  std::vector<LegendEntry> legend;
  std::vector<Chart> charts;
};

std::string draw_svg(const ChartSheet& sheet);

// Ticks from 0 (or below, if `lowest` is negative) to at least `highest`, in three to six steps of
// 1, 2 or 5 times a power of ten.
std::vector<double> axis_ticks(double lowest, double highest);

}  // namespace odb
