#pragma once

#include "bench/ranks_bench.h"
#include "session.h"

#include <string>

namespace cohort::tool {

/// A row for each algorithm and cell: time, bandwidth beside that of the bare link, prediction, and what the
/// choice cost beside the best.
std::string ranks_table(const RanksReport& report, const Session& session);
std::string ranks_json(const RanksReport& report);

}  // namespace cohort::tool
