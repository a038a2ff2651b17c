// What every drawing here begins with and is written with: SVG as text, without fonts or scripts
// from outside.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The opening of a drawing of so many pixels, on a white ground; "</svg>" ends it.
std::string svg_begin(double width, double height);

// `anchor`: which end of the text is at x: "start", "middle" or "end". Ends with a line feed.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view text);

}  // namespace odb
