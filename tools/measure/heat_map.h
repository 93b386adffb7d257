#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

struct HeatCell {
  std::string text{};
  std::optional<double> heat{};  ///< from 0 (cold, best) to 1 (hot, worst); empty: nothing to compare with
};

/// A square table of values from each host to each host; worse values are hotter.
struct HeatMap {
  std::string title{};
  std::vector<std::string> labels{};
  std::vector<std::vector<HeatCell>> rows{};  ///< one row per label, one cell per label
};

/// The heat of each value on a logarithmic scale; the smallest value is the best. A value of `least_spread`
/// times the best or more is the worst, so that small differences stay cold. A value that is not positive has
/// no heat.
std::vector<std::optional<double>> heats_of(const std::vector<double>& values, double least_spread = 8);

/// The colour of a heat, as `#rrggbb`, from a scale that colour-blind readers can tell apart.
std::string heat_colour(double heat);

/// The maps below each other as one SVG file.
std::string svg_of(const std::vector<HeatMap>& maps);

}  // namespace cohort::measure
