#include "launch/rank_variables.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <sys/random.h>

namespace cohort::launch {
namespace {

constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};

bool is_set(const EnvironmentVariables& variables, const char* name) {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty();
}

}  // namespace

EnvironmentVariables rank_variables(const RankPlace& place) {
  EnvironmentVariables variables{{"COHORT_RANK", std::to_string(place.rank)},
                                 {"COHORT_WORLD", std::to_string(place.world)},
                                 {"COHORT_LOCAL_RANK", std::to_string(place.local_rank)},
                                 {"COHORT_LOCAL_WORLD", std::to_string(place.local_world)},
                                 {"COHORT_GENERATION", std::to_string(place.generation)},
                                 {"COHORT_RENDEZVOUS", place.rendezvous}};
  if (place.key) variables["COHORT_KEY_FD"] = std::to_string(*place.key);
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
  std::array<std::uint64_t, 2> bits{};
  const auto count = uninterrupted([&] { return ::getrandom(bits.data(), sizeof bits, 0); });
  if (count != static_cast<ssize_t>(sizeof bits)) return system_error("cannot draw random bits", errno);
  return fmt::format("unix:cohort-{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace cohort::launch
