#include "observe/screen.h"

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
  }
  return "";
}

}  // namespace

std::string Screen::coloured(std::string_view text, Colour colour) const {
  if (colours == Colours::kHidden || colour == Colour::kNone) return std::string(text);
  return std::string(escape_of(colour)) + std::string(text) + "\033[0m";
}

}  // namespace cohort::observe
