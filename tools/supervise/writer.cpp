#include "supervise/writer.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <climits>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace cohort::supervise {

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

// The descriptor may be shared with other programs, so it must not become non-blocking. A pipe that is ready
// for writing takes PIPE_BUF bytes without blocking; hence pieces of that size.
Status Writer::write(std::string_view bytes) {
  const std::lock_guard lock(*mutex_);
  while (!bytes.empty()) {
    COHORT_RETURN_IF_ERROR(wait_until_writable());
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (count < 0 && errno == EPIPE) {
      return Error(ErrorCode::kAborted, fmt::format("the reader of {} is gone", what_));
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
    return Error(ErrorCode::kTimedOut,
                 fmt::format("the reader of {} does not read, and waiting for it was given up", what_));
  }
  return {};
}

}  // namespace cohort::supervise
