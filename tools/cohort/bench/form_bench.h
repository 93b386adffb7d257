#pragma once

#include "base/result.h"
#include "launch/environment.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// The way from the loss of a rank to the next generation. Times in seconds since the SIGKILL, each of the
/// slowest rank.
struct FormRow {
  int ranks = 0;         ///< before the loss
  double noticed_s = 0;  ///< the call in which all survivors wait has failed on them
  double agreed_s = 0;   ///< survivors() has returned
  double formed_s = 0;   ///< form() has returned
  double summed_s = 0;   ///< the first all_reduce of the next generation is done
};

/// Lets the last rank kill itself with SIGKILL and forms the next generation of the others, `losses` times.
/// Every sum is checked. Rank 0 gets the rows of all losses. The limits that detect a loss are the defaults.
///
/// Failure: kUsage for too few ranks, and for ranks on several machines, whose clocks differ; network
/// namespaces of one machine have one clock.
Result<std::vector<FormRow>> bench_form(const LaunchFacts& facts, int losses);

}  // namespace cohort::tool
