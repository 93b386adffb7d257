#include "machine/survey_limits.h"

#include <cerrno>
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
    return Error(ErrorCode::kIo,
                 "the kernel does not tell a limit: " + std::generic_category().message(errno));
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

}  // namespace cohort::machine
