#pragma once

#include <string>
#include <string_view>

namespace cohort::observe {

/// Those of heat are grounds of cells, from cold to hot.
enum class Colour {
  kNone,
  kGreen,
  kYellow,
  kRed,
  kBold,
  kFaint,
  kHeat0,
  kHeat1,
  kHeat2,
  kHeat3,
  kHeat4,
};
enum class Colours { kHidden, kShown };

/// The ground of a cell that is so hot: from 0 to 1, and what lies beyond as the nearer of them.
Colour heat_colour(double heat);

/// What text for people is laid out for.
struct Screen {
  Colours colours = Colours::kHidden;
  int columns = 100;

  /// The text in a colour, or as it is where colours are hidden.
  std::string coloured(std::string_view text, Colour colour) const;
};

}  // namespace cohort::observe
