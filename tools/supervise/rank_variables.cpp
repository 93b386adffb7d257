#include "supervise/rank_variables.h"

#include "launch/variables.h"

#include <algorithm>

namespace cohort::supervise {
namespace {

constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};

bool is_set(const EnvironmentVariables& variables, const char* name) {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty();
}

}  // namespace

EnvironmentVariables rank_variables(const RankIdentity& identity) {
  EnvironmentVariables variables{
      {"COHORT_RANK", std::to_string(identity.rank)},
      {"COHORT_WORLD", std::to_string(identity.world)},
      {"COHORT_LOCAL_RANK", std::to_string(identity.local_rank)},
      {"COHORT_LOCAL_WORLD", std::to_string(identity.local_size)},
      {"COHORT_GENERATION", std::to_string(identity.generation)},
      {"COHORT_ROLE", std::string(name(identity.roles.of(identity.rank, identity.world)))},
      {"COHORT_SERVERS", std::to_string(identity.roles.servers)},
      {"COHORT_SPARES", std::to_string(identity.roles.spares)},
      {"COHORT_RENDEZVOUS", identity.rendezvous}};
  if (identity.key) variables["COHORT_KEY_FD"] = std::to_string(*identity.key);
  return variables;
}

int threads_of_rank(int usable_cores, int ranks) {
  return std::max(1, usable_cores / std::max(1, ranks));
}

EnvironmentVariables thread_variables(const EnvironmentVariables& given, std::optional<int> asked,
                                      int even_share) {
  if (!asked && is_set(given, "OMP_NUM_THREADS")) return {};
  EnvironmentVariables variables;
  for (const char* name : kThreadVariables) {
    if (asked || !is_set(given, name)) variables[name] = std::to_string(asked.value_or(even_share));
  }
  return variables;
}

Result<std::string> fresh_rendezvous() {
  COHORT_ASSIGN_OR_RETURN(const std::string name, launch::fresh_unix_name());
  return "unix:" + name;
}

}  // namespace cohort::supervise
