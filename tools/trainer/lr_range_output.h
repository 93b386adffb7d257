#pragma once

#include "measure/range_test.h"
#include "observe/screen.h"

#include <string>

namespace cohort::tool {

/// A range test that is over, and the run it was made in.
struct LrRangeReport {
  measure::RangeTest test{};
  int ranks = 1;
  int steps = 0;  ///< as many as were asked for
  /// The learning rate of a step, divided by optimizer.learning_rate: the factor of
  /// schedule.scale_with_batch.
  double batch_factor = 1;
  bool is_interrupted = false;
};

std::string lr_range_json(const LrRangeReport& report);
/// A table of at most 25 steps, a chart, and the suggestions.
std::string lr_range_text(const LrRangeReport& report, const observe::Screen& screen);
/// The losses over the learning rate as SVG.
std::string lr_range_svg(const LrRangeReport& report);

}  // namespace cohort::tool
