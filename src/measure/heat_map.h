#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

struct HeatCell {
  std::string text{};
  std::optional<double> heat{};  ///< from 0 (cold, best) to 1 (hot, worst); none: there is nothing to compare
};

/// A square table from each of some places to each of them, the worse the hotter.
struct HeatMap {
  std::string title{};
  std::vector<std::string> labels{};
  std::vector<std::vector<HeatCell>> rows{};  ///< as many as labels, each as long
};

/// How hot each of these values is, the smallest of which is the best, by their logarithms. Worst is what is
/// `least_spread` times the best, or worse: small differences stay cold. Values that are not positive have
/// no heat.
std::vector<std::optional<double>> heats_of(const std::vector<double>& values, double least_spread = 8);

/// The colour of a heat, as `#rrggbb`: distinct also for those who do not see all colours.
std::string heat_colour(double heat);

/// The maps below each other as one SVG file.
std::string svg_of(const std::vector<HeatMap>& maps);

}  // namespace cohort::measure
