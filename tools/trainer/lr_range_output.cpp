#include "lr_range_output.h"

#include "measure/svg_plot.h"
#include "observe/amounts.h"
#include "observe/json_text.h"
#include "observe/line_chart.h"
#include "observe/table.h"

#include <fmt/format.h>

namespace cohort::tool {
namespace {

using measure::RangePoint;

constexpr std::size_t kMostRows = 25;

/// A suggestion for optimizer.learning_rate.
struct Suggestion {
  const char* name;  ///< in JSON
  const char* text;
  std::optional<double> rate;
};

std::vector<Suggestion> suggestions(const LrRangeReport& report) {
  const auto setting = [&](std::optional<double> rate) {
    return rate ? std::optional(*rate / report.batch_factor) : std::nullopt;
  };
  return {{"steepest", "where the loss falls fastest", setting(report.test.steepest())},
          {"tenth_of_minimum", "a tenth of the rate with the lowest loss",
           setting(report.test.tenth_of_minimum())}};
}

std::string table_of(const std::vector<RangePoint>& points, const observe::Screen& screen) {
  observe::Table table({"step", "learning rate", "loss", "smoothed loss"});
  const std::size_t every = (points.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % every != 0 && i + 1 != points.size()) continue;
    table.add({{std::to_string(i + 1)},
               {fmt::format("{:.3g}", points[i].learning_rate)},
               {observe::format_number(points[i].loss)},
               {observe::format_number(points[i].smoothed)}});
  }
  return table.text(screen);
}

std::string chart_of_losses(const std::vector<RangePoint>& points, const observe::Screen& screen) {
  std::vector<observe::ChartPoint> drawn;
  for (const RangePoint& point : points) drawn.push_back({point.learning_rate, point.loss, point.smoothed});
  const std::string chart = observe::line_chart(drawn, screen);
  return chart.empty() ? "" : "\nloss (.) and smoothed loss (*) over the learning rate:\n" + chart;
}

std::string end_of(const LrRangeReport& report) {
  const std::size_t count = report.test.points().size();
  if (report.test.has_diverged()) return fmt::format("the loss diverged after {} steps", count);
  if (report.is_interrupted) return fmt::format("interrupted after {} of {} steps", count, report.steps);
  return fmt::format("{} steps, and the loss did not diverge", count);
}

}  // namespace

std::string lr_range_json(const LrRangeReport& report) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const RangePoint& point : report.test.points()) {
    points.push_back(
        {{"learning_rate", point.learning_rate}, {"loss", point.loss}, {"smoothed_loss", point.smoothed}});
  }
  nlohmann::ordered_json suggested = nlohmann::ordered_json::object();
  for (const Suggestion& each : suggestions(report)) {
    suggested[each.name] = each.rate ? nlohmann::ordered_json(*each.rate) : nlohmann::ordered_json();
  }
  return observe::json_text({{"ranks", report.ranks},
                             {"steps", report.steps},
                             {"diverged", report.test.has_diverged()},
                             {"interrupted", report.is_interrupted},
                             {"points", points},
                             {"suggested_learning_rate", suggested}});
}

std::string lr_range_text(const LrRangeReport& report, const observe::Screen& screen) {
  const std::vector<RangePoint>& points = report.test.points();
  std::string text;
  if (!points.empty()) text = table_of(points, screen) + chart_of_losses(points, screen) + "\n";
  text += end_of(report) + "\n";
  for (const Suggestion& each : suggestions(report)) {
    text += each.rate ? fmt::format("optimizer.learning_rate = {:.3g}: {}\n", *each.rate, each.text)
                      : fmt::format("no suggestion by {}\n", each.text);
  }
  return text;
}

std::string lr_range_svg(const LrRangeReport& report) {
  const auto number = [](double value) { return fmt::format("{:.3g}", value); };
  measure::Plot plot{.title = fmt::format("learning-rate range test, {} ranks", report.ranks),
                     .lines = {{.label = "loss"}, {.label = "smoothed loss"}},
                     .x = {.title = "learning rate", .base = 10, .label = number},
                     .y = {.title = "loss", .base = 2, .label = number}};
  for (const RangePoint& point : report.test.points()) {
    plot.lines[0].points.push_back({point.learning_rate, point.loss});
    plot.lines[1].points.push_back({point.learning_rate, point.smoothed});
  }
  return measure::svg_of({plot});
}

}  // namespace cohort::tool
