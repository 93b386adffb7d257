#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cohort::measure {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string label{};
  std::vector<PlotPoint> points{};
};

/// A plot of time over size, both logarithmic: sizes in bytes with ticks at powers of 16, times in
/// nanoseconds with ticks at powers of ten. Points that are not positive are left out.
struct Plot {
  std::string title{};
  std::vector<PlotLine> lines{};
};

/// The plots below each other as one SVG file.
std::string svg_of(const std::vector<Plot>& plots);

/// A colour for line or bar `number`. The first six can be told apart by colour-blind readers; then they
/// repeat.
std::string_view svg_colour(std::size_t number);

/// The text with the special characters of SVG escaped.
std::string svg_text(std::string_view text);

/// The first lines of an SVG file of this size with a white background; `</svg>` ends the file.
std::string svg_begin(double width, double height);

}  // namespace cohort::measure
