#pragma once

#include <span>

namespace cohort::data {

struct Point {
  float x = 0;
  float y = 0;
};

/// The stroke of a digit: points of a polyline in a square from (0, 0), top left, to (1, 1).
std::span<const Point> glyph(int digit);

/// The transformation of a glyph about the middle of the square.
struct Pose {
  float turn = 0;  ///< tangent of half the angle, so that no sine is needed
  float slant = 0;
  float width = 1;
  float height = 1;
  Point shift{};
};

/// A square image, rows from the top.
struct Canvas {
  float* pixels = nullptr;
  int size = 0;
};

/// Draws a digit over the image, as a line of `thickness` (a fraction of the side): 0 outside of the line, 1
/// inside.
void draw_digit(int digit, const Pose& pose, float thickness, Canvas canvas);

}  // namespace cohort::data
