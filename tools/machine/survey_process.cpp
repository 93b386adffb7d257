#include "machine/survey_parts.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <sys/resource.h>
#include <system_error>

namespace cohort::machine {
namespace {

std::optional<std::uint64_t> bounded(rlim_t value) {
  if (value == RLIM_INFINITY) return std::nullopt;
  return value;
}

template <class Resource>
Result<Limit> limit_of(Resource resource) {
  struct rlimit answer {};
  if (::getrlimit(resource, &answer) != 0) {
    return Error(ErrorCode::kIo, "cannot read a resource limit: " + std::generic_category().message(errno));
  }
  return Limit{.soft = bounded(answer.rlim_cur), .hard = bounded(answer.rlim_max)};
}

}  // namespace

Limits survey_limits() {
  return {.open_files = limit_of(RLIMIT_NOFILE),
          .processes = limit_of(RLIMIT_NPROC),
          .locked_memory_bytes = limit_of(RLIMIT_MEMLOCK),
          .core_file_bytes = limit_of(RLIMIT_CORE)};
}

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
