#include "observe/line_chart.h"

#include "observe/amounts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace cohort::observe {
namespace {

constexpr int kRows = 12;
constexpr int kLabelColumns = 11;  // of the numbers left of the chart

/// The characters of a chart, from the top left, and what they stand for.
struct Canvas {
  std::vector<std::string> rows;
  double lowest;
  double highest;

  void draw(double share_of_width, double y, char mark) {
    if (!(y >= lowest && y <= highest)) return;
    const double height = highest > lowest ? (y - lowest) / (highest - lowest) : 0;
    const auto row = static_cast<std::size_t>(std::lround((1 - height) * (kRows - 1)));
    const auto last = static_cast<double>(rows[row].size() - 1);
    rows[row][static_cast<std::size_t>(std::lround(share_of_width * last))] = mark;
  }
};

std::string label_of_row(const Canvas& canvas, int row) {
  if (row == 0) return format_number(canvas.highest);
  return row == kRows - 1 ? format_number(canvas.lowest) : "";
}

}  // namespace

std::string line_chart(const std::vector<ChartPoint>& points, const Screen& screen) {
  if (points.size() < 2) return "";
  const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                               [](const auto& a, const auto& b) { return a.line < b.line; });
  const int width = std::clamp(screen.columns - kLabelColumns - 2, 20, 100);
  Canvas canvas{std::vector<std::string>(kRows, std::string(static_cast<std::size_t>(width), ' ')), low->line,
                high->line};
  const double first = std::log(points.front().x), span = std::log(points.back().x) - first;
  const auto share = [&](const ChartPoint& point) {
    return span > 0 ? (std::log(point.x) - first) / span : 0;
  };
  for (const ChartPoint& point : points) canvas.draw(share(point), point.dot, '.');
  for (const ChartPoint& point : points) canvas.draw(share(point), point.line, '*');
  std::string text;
  for (int row = 0; row < kRows; ++row) {
    text += fmt::format("{:>{}} |{}\n", label_of_row(canvas, row), kLabelColumns,
                        canvas.rows[static_cast<std::size_t>(row)]);
  }
  const std::string from = format_number(points.front().x), to = format_number(points.back().x);
  text += fmt::format("{:>{}} +{:-<{}}\n", "", kLabelColumns, "", width);
  text +=
      fmt::format("{:>{}}  {}{:>{}}\n", "", kLabelColumns, from, to, width - static_cast<int>(from.size()));
  return text;
}

}  // namespace cohort::observe
