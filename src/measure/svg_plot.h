#pragma once

#include <string>
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

/// Time over size, both logarithmic: sizes in bytes with ticks at powers of 16, times in nanoseconds with
/// ticks at powers of ten. Points that are not positive are left out.
struct Plot {
  std::string title{};
  std::vector<PlotLine> lines{};
};

/// The plots below each other as one SVG file.
std::string svg_of(const std::vector<Plot>& plots);

}  // namespace cohort::measure
