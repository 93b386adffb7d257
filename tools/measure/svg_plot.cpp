#include "measure/svg_plot.h"

#include "base/units.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace cohort::measure {

std::string svg_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_begin(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
}

namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 460;
constexpr double kLeft = 80;
constexpr double kRight = 180;  // room for the legend
constexpr double kTop = 48;
constexpr double kBottom = 56;
constexpr double kLegendStep = 22;

constexpr std::array<std::string_view, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                      "#cc79a7", "#56b4e9", "#a07000"};

bool is_visible(const PlotPoint& point) {
  return point.x > 0 && point.y > 0 && std::isfinite(point.x) && std::isfinite(point.y);
}

// Logarithms of the limits of one axis, widened to whole steps.
struct Axis {
  double base = 10;
  double low = 0;
  double high = 1;
  double from = 0;  // positions on the page
  double to = 1;

  double position(double value) const {
    return from + (std::log(value) / std::log(base) - low) / (high - low) * (to - from);
  }
};

Axis axis_of(std::vector<double> values, double base, double from, double to) {
  Axis axis{.base = base, .from = from, .to = to};
  if (values.empty()) return axis;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  axis.low = std::floor(std::log(*least) / std::log(base) + 1e-9);
  axis.high = std::ceil(std::log(*most) / std::log(base) - 1e-9);
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  return axis;
}

void append_ticks(std::string& svg, const Plot& plot, const Axis& x, const Axis& y) {
  const auto line = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#d8d8d8\"/>\n",
                       x1, y1, x2, y2);
  };
  const auto text = [&](double at_x, double at_y, std::string_view anchor, const std::string& words) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y, anchor,
                       words);
  };
  for (double step = x.low; step <= x.high; ++step) {
    const double value = std::pow(x.base, step);
    line(x.position(value), y.from, x.position(value), y.to);
    text(x.position(value), y.from + 20, "middle", svg_text(plot.x.label(value)));
  }
  for (double step = y.low; step <= y.high; ++step) {
    const double value = std::pow(y.base, step);
    line(x.from, y.position(value), x.to, y.position(value));
    text(x.from - 8, y.position(value) + 4, "end", svg_text(plot.y.label(value)));
  }
}

void append_line(std::string& svg, const PlotLine& line, std::size_t number, const Axis& x, const Axis& y) {
  const std::string_view colour = svg_colour(number);
  const std::string_view dashes = number < kColours.size() ? "" : " stroke-dasharray=\"6 4\"";
  std::string corners;
  std::string dots;
  for (const PlotPoint& point : line.points) {
    if (!is_visible(point)) continue;
    const std::string dot_x = fmt::format("{:.1f}", x.position(point.x));
    const std::string dot_y = fmt::format("{:.1f}", y.position(point.y));
    corners += fmt::format("{}{},{}", corners.empty() ? "" : " ", dot_x, dot_y);
    dots += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/>\n", dot_x, dot_y, colour);
  }
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", corners,
                     colour, dashes);
  svg += dots;
  const double legend_y = y.to + 10 + static_cast<double>(number) * kLegendStep;
  svg += fmt::format(
      "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
      "stroke-width=\"3\"{4}/>\n",
      x.to + 16, x.to + 44, legend_y, colour, dashes);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x.to + 52, legend_y + 4,
                     svg_text(line.label));
}

double height_of(const Plot& plot) {
  return std::max(kHeight, kTop + kBottom + kLegendStep * static_cast<double>(plot.lines.size()));
}

void append_plot(std::string& svg, const Plot& plot, double top) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const PlotLine& line : plot.lines) {
    for (const PlotPoint& point : line.points) {
      if (!is_visible(point)) continue;
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  const Axis x = axis_of(xs, plot.x.base, kLeft, kWidth - kRight);
  const Axis y = axis_of(ys, plot.y.base, height_of(plot) - kBottom, kTop);
  svg += fmt::format("<g transform=\"translate(0 {:.1f})\">\n", top);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n", kLeft,
                     svg_text(plot.title));
  append_ticks(svg, plot, x, y);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) append_line(svg, plot.lines[i], i, x, y);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (x.from + x.to) / 2, y.from + 42, svg_text(plot.x.title));
  svg += fmt::format(
      "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</g>\n",
      (y.from + y.to) / 2, svg_text(plot.y.title));
}

}  // namespace

PlotAxis size_axis() {
  return {.title = "size of the buffer of one rank", .base = 16, .label = [](double value) {
            return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
          }};
}

PlotAxis time_axis() {
  return {.title = "time (best decile)", .base = 10, .label = [](double value) {
            return value < 1 ? fmt::format("{:g} ns", value)
                             : format_duration(std::chrono::nanoseconds(std::llround(value)));
          }};
}

std::string_view svg_colour(std::size_t number) {
  return kColours[number % kColours.size()];
}

std::string svg_of(const std::vector<Plot>& plots) {
  double height = 0;
  for (const Plot& plot : plots) height += height_of(plot);
  std::string svg = svg_begin(kWidth, std::max(height, kHeight));
  double top = 0;
  for (const Plot& plot : plots) {
    append_plot(svg, plot, top);
    top += height_of(plot);
  }
  return svg + "</svg>\n";
}

}  // namespace cohort::measure
