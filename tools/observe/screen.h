#pragma once

#include <string>
#include <string_view>

namespace cohort::observe {

/// The colours of heat are backgrounds, from cold to hot.
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

/// The background for a heat from 0 to 1; values outside are clamped.
Colour heat_colour(double heat);

/// The width of the output and whether it shows colours.
struct Screen {
  Colours colours = Colours::kHidden;
  int columns = 100;

  /// The text in a colour, or unchanged where colours are off.
  std::string coloured(std::string_view text, Colour colour) const;
};

}  // namespace cohort::observe
