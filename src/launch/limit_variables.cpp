#include "base/units.h"
#include "launch/variables.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort::launch {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

const std::string kLimit = "COHORT_LIMIT";
const std::string kLiveness = "COHORT_LIVENESS";

// All variables that Cohort reads, also those that only its tools, its plug-ins and its tests read.
constexpr auto kKnown = std::to_array<std::string_view>(
    {"COHORT_ALGORITHM", "COHORT_AS",          "COHORT_BACKEND",     "COHORT_BENCH_CONTROL",
     "COHORT_BUILD",     "COHORT_CHUNK",       "COHORT_ENCRYPTION",  "COHORT_ENGINE",
     "COHORT_EXPLAIN",   "COHORT_GENERATION",  "COHORT_INTERFACES",  "COHORT_KEY_FD",
     "COHORT_KEY_FILE",  "COHORT_LIBTORCH",    "COHORT_LIMIT",       "COHORT_LINK_CACHE",
     "COHORT_LIVENESS",  "COHORT_LOCAL_RANK",  "COHORT_LOCAL_WORLD", "COHORT_MPI_LIBRARY",
     "COHORT_OURS",      "COHORT_PYTHON",      "COHORT_RANK",        "COHORT_RENDEZVOUS",
     "COHORT_ROLE",      "COHORT_SERVERS",     "COHORT_SOAK",        "COHORT_SOCKETS",
     "COHORT_SPARES",    "COHORT_TEST_LOG",    "COHORT_TRAINER",     "COHORT_WIRE",
     "COHORT_WORLD",     "COHORT_WRITE_GOLDEN"});

Result<std::optional<nanoseconds>> read_limit(const VariableReader& variables, const std::string& name,
                                              nanoseconds least, nanoseconds most) {
  const auto text = variables.text(name);
  if (!text || text->empty()) return std::optional<nanoseconds>();
  const auto duration = parse_duration(*text);
  if (duration && *duration >= least && *duration <= most) return std::optional<nanoseconds>(*duration);
  return Error(ErrorCode::kUsage,
               fmt::format("the environment has {}, expected a duration from {} to {}", quoted(name, *text),
                           format_duration(least), format_duration(most)))
      .with_remedy("Set it to a duration such as 90s, or unset it.");
}

}  // namespace

Result<LimitFacts> read_limits(const VariableReader& variables) {
  LimitFacts limits;
  COHORT_ASSIGN_OR_RETURN(limits.call, read_limit(variables, kLimit, 1ms, 24h));
  COHORT_ASSIGN_OR_RETURN(limits.liveness, read_limit(variables, kLiveness, 10ms, 1h));
  return limits;
}

EnvironmentVariables limit_variables(const LimitFacts& limits) {
  EnvironmentVariables variables;
  if (limits.call) variables[kLimit] = exact_duration(*limits.call);
  if (limits.liveness) variables[kLiveness] = exact_duration(*limits.liveness);
  return variables;
}

std::vector<std::string> unknown_variables(const EnvironmentVariables& environment) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : environment) {
    const bool is_ours = name.starts_with("COHORT_");
    if (is_ours && std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace cohort::launch
