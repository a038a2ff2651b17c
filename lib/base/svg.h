// The parts that all drawings share: SVG as text, without external fonts or scripts.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The start of a drawing of this size in pixels, on a white background; "</svg>" ends it.
std::string svg_begin(double width, double height);

// `anchor`: which end of the text is at x: "start", "middle" or "end". Ends with a line feed.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view text);

}  // namespace odb
