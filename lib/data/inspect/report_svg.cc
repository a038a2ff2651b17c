// The length histogram as a self-contained SVG: no scripts, no fonts to load.
#include <algorithm>

#include <fmt/format.h>

#include "base/svg.h"
#include "data/inspect/data_report.h"

namespace odb {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 320;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 36;
constexpr double kBottom = 48;

std::string bars_svg(const std::vector<LengthBar>& bars, std::int64_t most) {
  const double plot_width = kWidth - kLeft - kRight;
  const double plot_height = kHeight - kTop - kBottom;
  const double step = plot_width / static_cast<double>(bars.size());
  std::string out;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double height =
        plot_height * static_cast<double>(bars[i].samples) / static_cast<double>(most);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#3b6ea5\">"
        "<title>{} to {} tokens: {} samples</title></rect>\n",
        kLeft + step * static_cast<double>(i) + 1, kTop + plot_height - height, step - 2, height,
        bars[i].from, bars[i].below - 1, bars[i].samples);
  }
  return out;
}

}  // namespace

std::string report_svg(const DataReport& report) {
  const std::vector<LengthBar>& bars = report.after_cut.histogram;
  std::string out = svg_begin(kWidth, kHeight);
  out += svg_text(kLeft, 20, "start",
                  fmt::format("{} samples, {} tokens; median {}, longest {}, CV {:.2f}",
                              report.trained(), report.tokens, report.after_cut.median,
                              report.after_cut.longest, report.after_cut.variation));
  if (!bars.empty()) {
    std::int64_t most = 0;
    for (const LengthBar& bar : bars)
      most = std::max(most, bar.samples);
    const double base = kHeight - kBottom;
    out += bars_svg(bars, most);
    out += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#222222\"/>\n", kLeft,
                       kTop, base, kWidth - kRight);
    out += svg_text(kLeft - 6, kTop + 10, "end", fmt::to_string(most));
    out += svg_text(kLeft - 6, base, "end", "0");
    out += svg_text(kLeft, base + 18, "start", fmt::to_string(bars.front().from));
    out += svg_text(kWidth - kRight, base + 18, "end", fmt::to_string(bars.back().below));
    out += svg_text((kLeft + kWidth - kRight) / 2, base + 36, "middle", "tokens per sample");
  }
  return out + "</svg>\n";
}

}  // namespace odb
