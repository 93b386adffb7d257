#pragma once

#include "bench/group_processes.h"
#include "measure/statistics.h"
#include "session.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// What was measured of a model at one batch. A contender that did not take part is missing.
struct StepRow {
  std::string model{};
  int batch = 1;  ///< of one rank
  int ranks = 2;
  std::map<std::string, measure::Summary> times{};  ///< by contender
  std::map<std::string, MemoryUse> memory{};        ///< by contender: of its largest rank
  std::optional<double> our_first_step_ns{};
  std::optional<double> torch_first_step_ns{};
};

/// One object with `rows`.
std::string step_json(const std::vector<StepRow>& rows);
/// For people.
std::string step_table(const std::vector<StepRow>& rows, const Session& session);

}  // namespace cohort::tool
