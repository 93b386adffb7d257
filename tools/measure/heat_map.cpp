#include "measure/heat_map.h"

#include "measure/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace cohort::measure {
namespace {

constexpr double kCellWidth = 96;
constexpr double kCellHeight = 34;
constexpr double kMapTop = 64;  // for the title and the labels of columns
constexpr double kMapBottom = 40;
constexpr double kLetterWidth = 7.2;
constexpr double kMargin = 16;

using Rgb = std::array<double, 3>;

// From light to dark, so that the map can be read without colours.
constexpr std::array<Rgb, 5> kScale = {
    {{255, 255, 204}, {254, 217, 118}, {253, 141, 60}, {227, 26, 28}, {128, 0, 38}}};
constexpr double kWhiteTextFrom = 0.6;

double left_of(const HeatMap& map) {
  std::size_t longest = 9;  // length of the text in the corner
  for (const std::string& label : map.labels) longest = std::max(longest, label.size());
  return 2 * kMargin + kLetterWidth * static_cast<double>(longest);
}

double width_of(const HeatMap& map) {
  const double cells = left_of(map) + kCellWidth * static_cast<double>(map.labels.size()) + kMargin;
  return std::max(cells, 2 * kMargin + kLetterWidth * 1.4 * static_cast<double>(map.title.size()));
}

double map_height(const HeatMap& map) {
  return kMapTop + kCellHeight * static_cast<double>(map.labels.size()) + kMapBottom;
}

void append_text(std::string& svg, double x, double y, std::string_view more, const std::string& text) {
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more, svg_text(text));
}

void append_cell(std::string& svg, double x, double y, const HeatCell& cell) {
  const std::string fill = cell.heat ? heat_colour(*cell.heat) : "#f2f2f2";
  const bool is_dark = cell.heat && *cell.heat >= kWhiteTextFrom;
  svg += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"{}\" stroke=\"white\" "
      "stroke-width=\"2\"/>\n",
      x, y, kCellWidth, kCellHeight, fill);
  append_text(svg, x + kCellWidth / 2, y + kCellHeight / 2 + 4,
              is_dark ? "text-anchor=\"middle\" fill=\"white\"" : "text-anchor=\"middle\"", cell.text);
}

void append_map(std::string& svg, const HeatMap& map, double top) {
  const double left = left_of(map);
  svg += fmt::format("<g transform=\"translate(0 {:.1f})\">\n", top);
  append_text(svg, kMargin, 26, "font-size=\"16\" font-weight=\"bold\"", map.title);
  append_text(svg, left - 10, kMapTop - 10, "text-anchor=\"end\" fill=\"#808080\"", "from \\ to");
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const double y = kMapTop + kCellHeight * static_cast<double>(i);
    const double x = left + kCellWidth * static_cast<double>(i);
    append_text(svg, x + kCellWidth / 2, kMapTop - 10, "text-anchor=\"middle\"", map.labels[i]);
    append_text(svg, left - 10, y + kCellHeight / 2 + 4, "text-anchor=\"end\"", map.labels[i]);
    for (std::size_t j = 0; j < map.rows[i].size(); ++j) {
      append_cell(svg, left + kCellWidth * static_cast<double>(j), y, map.rows[i][j]);
    }
  }
  svg += "</g>\n";
}

}  // namespace

std::vector<std::optional<double>> heats_of(const std::vector<double>& values, double least_spread) {
  double best = 0;
  double worst = 0;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    best = best > 0 ? std::min(best, value) : value;
    worst = std::max(worst, value);
  }
  std::vector<std::optional<double>> heats;
  for (const double value : values) {
    const bool counts = value > 0 && std::isfinite(value);
    const double spread = std::log(std::max(worst / best, least_spread));
    heats.push_back(counts ? std::optional(std::log(value / best) / spread) : std::nullopt);
  }
  return heats;
}

std::string heat_colour(double heat) {
  const double position = std::clamp(heat, 0.0, 1.0) * static_cast<double>(kScale.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(position), kScale.size() - 2);
  const double share = position - static_cast<double>(below);
  std::string text = "#";
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = kScale[below][i] * (1 - share) + kScale[below + 1][i] * share;
    text += fmt::format("{:02x}", static_cast<int>(std::lround(part)));
  }
  return text;
}

std::string svg_of(const std::vector<HeatMap>& maps) {
  double width = 2 * kMargin;
  double height = 0;
  for (const HeatMap& map : maps) {
    width = std::max(width, width_of(map));
    height += map_height(map);
  }
  std::string svg = svg_begin(width, std::max(height, 2 * kMargin));
  double top = 0;
  for (const HeatMap& map : maps) {
    append_map(svg, map, top);
    top += map_height(map);
  }
  return svg + "</svg>\n";
}

}  // namespace cohort::measure
