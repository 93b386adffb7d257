#include "machine/survey_threads.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace cohort::machine {
namespace {

constexpr std::string_view kNames[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                       "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"};
constexpr std::string_view kBeginnings[] = {"KMP_", "MALLOC_"};

bool concerns_threads(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace

Environment thread_settings(const Environment& environment) {
  Environment settings;
  for (const auto& variable : environment) {
    if (concerns_threads(variable.first)) settings.insert(variable);
  }
  return settings;
}

}  // namespace cohort::machine
