#pragma once

#include "measure/bench_rows.h"
#include "measure/svg_plot.h"
#include "session.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// One object: `rows`, and in `unsupported` what a contender cannot do.
std::string bench_json(const measure::BenchReport& report);
/// For people.
std::string bench_table(const measure::BenchReport& report, const Session& session);
/// One plot per operation and number of ranks, one line per kind and peer.
std::vector<measure::Plot> bench_plots(const measure::BenchReport& report);

}  // namespace cohort::tool
