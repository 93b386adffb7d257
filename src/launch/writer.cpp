#include "launch/writer.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <climits>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace cohort::launch {

Result<Writer> Writer::make(int descriptor, std::string what) {
  Descriptor given_up(::eventfd(0, EFD_CLOEXEC));
  if (!given_up.is_open()) return system_error("cannot make a descriptor for events", errno);
  return Writer(descriptor, std::move(what), std::move(given_up));
}

Writer::Writer(int descriptor, std::string what, Descriptor given_up)
    : descriptor_(descriptor),
      what_(std::move(what)),
      given_up_(std::move(given_up)),
      mutex_(std::make_unique<std::mutex>()) {}

void Writer::give_up() {
  ::eventfd_write(given_up_.number(), 1);
}

// A descriptor that is shared with other programs must not be made non-blocking. A pipe that is ready takes
// PIPE_BUF bytes without blocking, so that much is written at a time.
Status Writer::write(std::string_view bytes) {
  const std::lock_guard lock(*mutex_);
  while (!bytes.empty()) {
    COHORT_RETURN_IF_ERROR(wait_until_writable());
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (count < 0 && errno == EPIPE) {
      return Error(ErrorCode::kAborted, fmt::format("nobody reads {} any more", what_));
    }
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      return system_error(fmt::format("cannot write to {}", what_), errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return {};
}

Status Writer::wait_until_writable() {
  std::array<pollfd, 2> ready{{{descriptor_, POLLOUT, 0}, {given_up_.number(), POLLIN, 0}}};
  while (::poll(ready.data(), ready.size(), -1) < 0) {
    if (errno != EINTR) return system_error(fmt::format("cannot wait for {}", what_), errno);
  }
  if (ready[0].revents == 0) {
    return Error(ErrorCode::kTimedOut, fmt::format("the reader of {} does not read", what_));
  }
  return {};
}

}  // namespace cohort::launch
