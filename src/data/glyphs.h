#pragma once

#include <span>

namespace cohort::data {

struct Point {
  float x = 0;
  float y = 0;
};

/// The stroke that draws a digit: points of a line in a square from (0, 0), top left, to (1, 1).
std::span<const Point> glyph(int digit);

/// How the points of a glyph are moved: about the middle of the square, then to pixels.
struct Pose {
  float turn = 0;  ///< the tangent of half the angle, so that no sine is needed
  float slant = 0;
  float width = 1;
  float height = 1;
  Point shift{};
};

/// A square picture, rows from the top.
struct Canvas {
  float* pixels = nullptr;
  int size = 0;
};

/// Draws a digit as a line of `thickness` (in parts of the square) over what is there: from 0 outside of it
/// to 1 inside.
void draw_digit(int digit, const Pose& pose, float thickness, Canvas canvas);

}  // namespace cohort::data
