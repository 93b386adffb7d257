#include "comm/shared_memory/witness.h"

#include "base/system_error.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cohort::comm {
namespace {

constexpr std::size_t kFirstPage = 4096;
static_assert(sizeof(ArenaHeader) <= kFirstPage);

}  // namespace

Result<Witness> Witness::of(pid_t process, const Descriptor& arena) {
  Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!pidfd.is_open() && errno != ESRCH) {
    return system_error(fmt::format("cannot open a pidfd of process {}", process), errno);
  }
  COHORT_ASSIGN_OR_RETURN(Mapping page, Mapping::of(arena, kFirstPage, 0));
  return Witness(process, std::move(pidfd), std::move(page));
}

bool Witness::has_ended() const {
  if (!pidfd_.is_open()) return true;
  pollfd wanted{.fd = pidfd_.number(), .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, 0) > 0;
}

}  // namespace cohort::comm
