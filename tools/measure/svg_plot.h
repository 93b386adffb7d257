#pragma once

#include <functional>
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

/// A logarithmic axis, with ticks at powers of `base`.
struct PlotAxis {
  std::string title{};
  double base = 10;
  std::function<std::string(double value)> label{};  ///< of a tick
};
/// Sizes in bytes.
PlotAxis size_axis();
/// Times in nanoseconds.
PlotAxis time_axis();

/// A plot, of time over size unless its axes are others. Points that are not positive are left out.
struct Plot {
  std::string title{};
  std::vector<PlotLine> lines{};
  PlotAxis x = size_axis();
  PlotAxis y = time_axis();
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
