#include "observe/screen.h"

#include <algorithm>
#include <array>

namespace cohort::observe {
namespace {

std::string_view escape_of(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kGreen:
      return "\033[32m";
    case Colour::kYellow:
      return "\033[33m";
    case Colour::kRed:
      return "\033[1;31m";
    case Colour::kBold:
      return "\033[1m";
    case Colour::kFaint:
      return "\033[2m";
    case Colour::kHeat0:
      return "\033[38;5;16;48;5;230m";
    case Colour::kHeat1:
      return "\033[38;5;16;48;5;222m";
    case Colour::kHeat2:
      return "\033[38;5;16;48;5;209m";
    case Colour::kHeat3:
      return "\033[38;5;231;48;5;160m";
    case Colour::kHeat4:
      return "\033[38;5;231;48;5;88m";
  }
  return "";
}

}  // namespace

Colour heat_colour(double heat) {
  constexpr std::array kLevels{Colour::kHeat0, Colour::kHeat1, Colour::kHeat2, Colour::kHeat3,
                               Colour::kHeat4};
  const double level = std::clamp(heat, 0.0, 1.0) * static_cast<double>(kLevels.size());
  return kLevels[std::min(static_cast<std::size_t>(level), kLevels.size() - 1)];
}

std::string Screen::coloured(std::string_view text, Colour colour) const {
  if (colours == Colours::kHidden || colour == Colour::kNone) return std::string(text);
  return std::string(escape_of(colour)) + std::string(text) + "\033[0m";
}

}  // namespace cohort::observe
