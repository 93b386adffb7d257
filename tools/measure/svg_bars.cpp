#include "measure/svg_bars.h"

#include "base/units.h"
#include "measure/svg_plot.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace cohort::measure {
namespace {

constexpr double kPageWidth = 860;
constexpr double kBarsFrom = 220;    // room for the labels
constexpr double kLongestBar = 540;  // the rest is for the time at its end
constexpr double kCaptionHeight = 40;
constexpr double kTitleHeight = 30;
constexpr double kBarStep = 26;
constexpr double kBarHeight = 18;
constexpr double kChartGap = 20;

bool is_drawn(const Bar& bar) {
  return bar.time_ns > 0 && std::isfinite(bar.time_ns);
}

double chart_height(const BarChart& chart) {
  const auto bars = std::count_if(chart.bars.begin(), chart.bars.end(), is_drawn);
  return kTitleHeight + kBarStep * static_cast<double>(bars) + kChartGap;
}

/// Gives every label a number, in the order of their first use.
class Labels {
 public:
  std::size_t number_of(const std::string& label) {
    const auto found = std::find(labels_.begin(), labels_.end(), label);
    if (found == labels_.end()) labels_.push_back(label);
    return static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
  }

 private:
  std::vector<std::string> labels_;
};

void append_bar(std::string& svg, const Bar& bar, double length, double top, std::string_view colour) {
  const double baseline = top + kBarHeight - 5;
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kBarsFrom - 8,
                     baseline, svg_text(bar.label));
  svg += fmt::format(
      "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
      kBarsFrom, top, length, kBarHeight, colour);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kBarsFrom + length + 8, baseline,
                     format_duration(std::chrono::nanoseconds(std::llround(bar.time_ns))));
}

void append_chart(std::string& svg, const BarChart& chart, double top, Labels& labels) {
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
                     kBarsFrom, top + 18, svg_text(chart.title));
  double longest_ns = 0;
  for (const Bar& bar : chart.bars) longest_ns = std::max(longest_ns, is_drawn(bar) ? bar.time_ns : 0);
  top += kTitleHeight;
  for (const Bar& bar : chart.bars) {
    if (!is_drawn(bar)) continue;
    append_bar(svg, bar, kLongestBar * bar.time_ns / longest_ns, top,
               svg_colour(labels.number_of(bar.label)));
    top += kBarStep;
  }
}

}  // namespace

std::string svg_of_bars(const std::string& caption, const std::vector<BarChart>& charts) {
  double height = kCaptionHeight;
  for (const BarChart& chart : charts) height += chart_height(chart);
  std::string svg = svg_begin(kPageWidth, height);
  svg += fmt::format("<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
                     svg_text(caption));
  double top = kCaptionHeight;
  Labels labels;
  for (const BarChart& chart : charts) {
    append_chart(svg, chart, top, labels);
    top += chart_height(chart);
  }
  return svg + "</svg>\n";
}

}  // namespace cohort::measure
