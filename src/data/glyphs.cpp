#include "data/glyphs.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cohort::data {
namespace {

constexpr Point kZero[] = {{.50f, .10f}, {.30f, .20f}, {.25f, .50f}, {.30f, .80f}, {.50f, .90f},
                           {.70f, .80f}, {.75f, .50f}, {.70f, .20f}, {.50f, .10f}};
constexpr Point kOne[] = {{.35f, .28f}, {.55f, .10f}, {.55f, .90f}};
constexpr Point kTwo[] = {{.25f, .30f}, {.35f, .12f}, {.60f, .10f}, {.75f, .28f},
                          {.70f, .45f}, {.25f, .90f}, {.78f, .90f}};
constexpr Point kThree[] = {{.25f, .15f}, {.55f, .10f}, {.73f, .27f}, {.48f, .47f},
                            {.75f, .68f}, {.55f, .90f}, {.25f, .85f}};
constexpr Point kFour[] = {{.62f, .90f}, {.62f, .10f}, {.22f, .65f}, {.80f, .65f}};
constexpr Point kFive[] = {{.72f, .10f}, {.30f, .10f}, {.27f, .45f}, {.55f, .42f},
                           {.75f, .63f}, {.60f, .88f}, {.25f, .87f}};
constexpr Point kSix[] = {{.68f, .12f}, {.42f, .25f}, {.27f, .55f}, {.30f, .80f}, {.50f, .90f},
                          {.72f, .77f}, {.70f, .57f}, {.50f, .48f}, {.28f, .62f}};
constexpr Point kSeven[] = {{.22f, .10f}, {.76f, .10f}, {.45f, .90f}};
constexpr Point kEight[] = {{.50f, .47f}, {.30f, .30f}, {.38f, .12f}, {.62f, .12f},
                            {.70f, .30f}, {.50f, .47f}, {.27f, .67f}, {.35f, .88f},
                            {.65f, .88f}, {.73f, .67f}, {.50f, .47f}};
constexpr Point kNine[] = {{.72f, .40f}, {.50f, .53f}, {.30f, .43f}, {.28f, .23f}, {.48f, .10f},
                           {.68f, .20f}, {.72f, .40f}, {.66f, .70f}, {.45f, .90f}};

Point moved(Point point, const Pose& pose, float size) {
  const float y = (point.y - 0.5f) * pose.height;
  const float x = (point.x - 0.5f) * pose.width + pose.slant * y;
  const float square = pose.turn * pose.turn;
  const float cosine = (1 - square) / (1 + square), sine = 2 * pose.turn / (1 + square);
  return {(cosine * x - sine * y + pose.shift.x + 0.5f) * size,
          (sine * x + cosine * y + pose.shift.y + 0.5f) * size};
}

float distance(Point p, Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length_square = dx * dx + dy * dy;
  const float along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / std::max(length_square, 1e-12f);
  const float t = std::clamp(along, 0.0f, 1.0f);
  const float x = a.x + t * dx - p.x, y = a.y + t * dy - p.y;
  return std::sqrt(x * x + y * y);
}

// Pixels from … to-1 that a line between two coordinates may touch.
struct Reach {
  int from;
  int to;
};
Reach reach(float a, float b, float radius, int size) {
  const auto limit = static_cast<float>(size);
  return {static_cast<int>(std::clamp(std::min(a, b) - radius - 1, 0.0f, limit)),
          static_cast<int>(std::clamp(std::max(a, b) + radius + 2, 0.0f, limit))};
}

void draw_line(Point a, Point b, float radius, Canvas canvas) {
  const Reach columns = reach(a.x, b.x, radius, canvas.size), rows = reach(a.y, b.y, radius, canvas.size);
  for (int row = rows.from; row < rows.to; ++row) {
    for (int column = columns.from; column < columns.to; ++column) {
      const Point centre{static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f};
      const float ink = std::clamp(radius - distance(centre, a, b) + 0.5f, 0.0f, 1.0f);
      float& pixel = canvas.pixels[row * canvas.size + column];
      pixel = std::max(pixel, ink);
    }
  }
}

}  // namespace

std::span<const Point> glyph(int digit) {
  constexpr std::array<std::span<const Point>, 10> kGlyphs = {kZero, kOne, kTwo,   kThree, kFour,
                                                              kFive, kSix, kSeven, kEight, kNine};
  COHORT_CHECK(digit >= 0 && digit < 10, "digit {}", digit);
  return kGlyphs[static_cast<std::size_t>(digit)];
}

void draw_digit(int digit, const Pose& pose, float thickness, Canvas canvas) {
  const std::span<const Point> points = glyph(digit);
  const auto size = static_cast<float>(canvas.size);
  Point before = moved(points[0], pose, size);
  for (const Point& point : points.subspan(1)) {
    const Point here = moved(point, pose, size);
    draw_line(before, here, thickness * size / 2, canvas);
    before = here;
  }
}

}  // namespace cohort::data
