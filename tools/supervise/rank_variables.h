#pragma once

#include "base/result.h"
#include "launch/environment.h"
#include "launch/variable_reader.h"

#include <optional>
#include <string>

namespace cohort::supervise {

/// The identity of one rank, as its environment describes it.
struct RankIdentity {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_size = 1;
  int generation = 0;
  RoleFacts roles{};
  std::string rendezvous{};  ///< the value of COHORT_RENDEZVOUS
  std::optional<int> key{};  ///< the descriptor that the job's key can be read from
};

/// The environment variables of a rank, as launch_facts() reads them.
EnvironmentVariables rank_variables(const RankIdentity& identity);

/// The number of compute threads of each rank when `ranks` ranks share the cores: at least one.
int threads_of_rank(int usable_cores, int ranks);

/// The variables that set the number of compute threads of a rank. A number that the user `asked` for
/// replaces the values in `given`; otherwise values in `given` are kept, and an OMP_NUM_THREADS in `given`
/// also counts for the libraries that fall back to it, so nothing is set.
EnvironmentVariables thread_variables(const EnvironmentVariables& given, std::optional<int> asked,
                                      int even_share);

/// The rendezvous of a new job: `unix:` and fresh_unix_name().
Result<std::string> fresh_rendezvous();

}  // namespace cohort::supervise
