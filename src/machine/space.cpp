#include "machine/space.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <system_error>

namespace cohort::machine {

Result<Space> space_of(const std::string& path) {
  struct statvfs answer {};
  if (::statvfs(path.c_str(), &answer) != 0) {
    const int failure = errno;
    return Error(
        failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        fmt::format("cannot measure the space of '{}': {}", path, std::generic_category().message(failure)));
  }
  return Space{.total_bytes = std::uint64_t{answer.f_blocks} * answer.f_frsize,
               .free_bytes = std::uint64_t{answer.f_bavail} * answer.f_frsize};
}

}  // namespace cohort::machine
