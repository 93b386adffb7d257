#pragma once

#include "observe/screen.h"

#include <string>
#include <vector>

namespace cohort::observe {

/// A point of a chart; x is above 0.
struct ChartPoint {
  double x = 0;
  double dot = 0;   ///< drawn as `.`
  double line = 0;  ///< drawn as `*`, over the dots
};

/// A chart of characters, as wide as the screen and 12 rows high: x from left to right on a logarithmic
/// scale, y from the lowest to the highest number of the line. Dots outside of these are left out. Empty for
/// less than two points.
std::string line_chart(const std::vector<ChartPoint>& points, const Screen& screen);

}  // namespace cohort::observe
