#pragma once

#include "base/result.h"
#include "measure/protocol.h"
#include "measure/statistics.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::measure {

/// How training steps are measured: every group warms up, then all take turns.
struct StepPlan {
  std::vector<std::string> groups{};
  int rounds = 5;
  std::uint32_t steps = 4;  ///< per turn
  /// The first steps allocate memory and find the order of the buckets.
  std::uint32_t warm_up_steps = 3;
};

/// Gets the times of steps from a group.
using TakeSteps =
    std::function<Result<std::vector<double>>(const std::string& group, const StepCommand& command)>;
/// Called before each turn with the group and the round (0: warming up).
using StepProgress = std::function<void(const std::string& group, int round)>;

/// The times of each group over all rounds (A B C A B C …), without the warm-up.
/// Failure: the first failure of any group ends the measurement.
Result<std::map<std::string, Summary>> run_steps(const StepPlan& plan, const TakeSteps& take,
                                                 const StepProgress& progress);

/// a / b; empty unless both were measured.
std::optional<double> ratio_of(std::optional<double> a, std::optional<double> b);

}  // namespace cohort::measure
