#include "net/stream.h"

#include "base/system_error.h"

#include <cerrno>
#include <sys/socket.h>

namespace cohort::net {
namespace {

bool comes_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

Error broken(const char* what, int error) {
  const Error why = system_error(what, error);
  return Error(ErrorCode::kPeerLost, why.text());
}

}  // namespace

Result<std::size_t> PlainStream::read(std::span<const iovec> parts) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  const ssize_t got = ::recvmsg(socket_, &message, MSG_DONTWAIT);
  if (got > 0) {
    num_come_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  if (got == 0) return Error(ErrorCode::kPeerLost, "the peer has closed the connection");
  if (comes_later(errno)) return std::size_t{0};
  return broken("reading from the connection failed", errno);
}

Result<std::size_t> PlainStream::write(std::span<const iovec> parts) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  const ssize_t put = ::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (put >= 0) return static_cast<std::size_t>(put);
  if (comes_later(errno)) return std::size_t{0};
  ::shutdown(socket_, SHUT_WR);  // bytes are missing from now on: the peer must not see any that follow
  std::size_t swallowed = 0;
  for (const iovec& part : parts) swallowed += part.iov_len;
  return swallowed;
}

}  // namespace cohort::net
