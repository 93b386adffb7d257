#pragma once

#include <string>
#include <vector>

namespace cohort::measure {

/// A time in nanoseconds.
struct Bar {
  std::string label{};
  double time_ns = 0;
};

/// Bars below each other on one linear scale that begins at 0. Bars whose time is not positive are left out.
struct BarChart {
  std::string title{};
  std::vector<Bar> bars{};
};

/// The charts below each other as one SVG file with `caption` at the top. Each chart has a scale of its own;
/// a label has the same colour in all charts.
std::string svg_of_bars(const std::string& caption, const std::vector<BarChart>& charts);

}  // namespace cohort::measure
