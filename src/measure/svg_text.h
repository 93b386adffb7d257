#pragma once

#include <string>
#include <string_view>

namespace cohort::measure {

/// The text as it may stand in an SVG file.
std::string svg_text(std::string_view text);

/// The first lines of an SVG file of this size with a white ground; `</svg>` ends it.
std::string svg_begin(double width, double height);

}  // namespace cohort::measure
