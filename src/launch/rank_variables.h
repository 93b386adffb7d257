#pragma once

#include "base/result.h"

#include <map>
#include <optional>
#include <string>

namespace cohort {

using EnvironmentVariables = std::map<std::string, std::string>;

namespace launch {

/// What one rank is told about its place.
struct RankPlace {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  int generation = 0;
  std::string rendezvous{};  ///< as COHORT_RENDEZVOUS
  std::optional<int> key{};  ///< the descriptor that the job's key can be read from
};

/// The same as variables, as launch_facts() reads them.
EnvironmentVariables rank_variables(const RankPlace& place);

/// How many compute threads a rank gets of the cores that all share: at least one.
int threads_of_rank(int usable_cores, int ranks);

/// The variables that set the number of compute threads of a rank. A number that was asked for replaces what
/// stands in `given`; otherwise what stands there is kept, and an OMP_NUM_THREADS of the user rules the
/// libraries that follow it: for them nothing is set.
EnvironmentVariables thread_variables(const EnvironmentVariables& given, std::optional<int> asked,
                                      int even_share);

/// The name under which the ranks of a new job find each other: `unix:cohort-` and 128 random bits, an
/// abstract socket name that no other job has and that leaves nothing on disk.
Result<std::string> fresh_rendezvous();

}  // namespace launch
}  // namespace cohort
