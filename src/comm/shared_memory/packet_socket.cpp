#include "comm/shared_memory/packet_socket.h"

#include "base/system_error.h"
#include "base/unix_address.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace cohort::comm {
namespace {

Result<Descriptor> open_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return system_error("cannot open a unix socket", errno);
  return socket;
}

}  // namespace

Result<bool> wait_readable(const Descriptor& descriptor, TimePoint deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wanted{.fd = descriptor.number(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return system_error("cannot wait for a unix socket", errno);
    if (left.count() <= 0) return false;
  }
}

Result<Descriptor> listen_at(const std::string& name) {
  COHORT_ASSIGN_OR_RETURN(const UnixAddress address, abstract_address(name));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, open_socket());
  if (::bind(socket.number(), address.get(), address.length) != 0) {
    const int number = errno;
    const Error error = system_error("cannot listen at '" + name + "'", number);
    return number == EADDRINUSE
               ? Error(ErrorCode::kAlreadyExists, error.message())
                     .with_remedy(
                         "Another process has the same rank, or another job uses the same rendezvous name.")
               : error;
  }
  if (::listen(socket.number(), SOMAXCONN) != 0) {
    return system_error("cannot listen at '" + name + "'", errno);
  }
  return socket;
}

Result<std::optional<Descriptor>> try_connect(const std::string& name) {
  COHORT_ASSIGN_OR_RETURN(const UnixAddress address, abstract_address(name));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, open_socket());
  if (::connect(socket.number(), address.get(), address.length) == 0) {
    return std::optional<Descriptor>(std::move(socket));
  }
  if (errno == ECONNREFUSED || errno == EAGAIN || errno == ENOENT) return std::optional<Descriptor>();
  return system_error("cannot connect to '" + name + "'", errno);
}

Result<Descriptor> accept_by(const Descriptor& listener, TimePoint deadline) {
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool ready, wait_readable(listener, deadline));
    if (!ready) return Error(ErrorCode::kTimedOut, "no connection arrived before the deadline");
    Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.is_open()) return socket;
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      return system_error("cannot accept a connection on a unix socket", errno);
    }
  }
}

Result<PeerCredentials> credentials_of(const Descriptor& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return system_error("cannot read the peer credentials of a unix socket", errno);
  }
  return PeerCredentials{.process = credentials.pid, .user = credentials.uid};
}

Status send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& descriptor) {
  iovec piece{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor.is_open()) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = descriptor.number();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
  }
  if (uninterrupted([&] { return ::sendmsg(socket.number(), &message, MSG_NOSIGNAL); }) < 0) {
    return system_error("cannot send to a unix socket", errno);
  }
  return {};
}

namespace {

/// The first descriptor of the message, or a closed one. The control buffer for one descriptor has, by
/// alignment, space for two: further descriptors are closed.
Descriptor first_descriptor(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return {};
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  Descriptor first;
  for (std::size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
    Descriptor descriptor(number);
    if (i == 0) first = std::move(descriptor);
  }
  return first;
}

}  // namespace

Result<std::optional<Packet>> receive_packet(const Descriptor& socket, std::size_t cap_bytes,
                                             TimePoint deadline) {
  Packet packet;
  packet.bytes.resize(cap_bytes);
  iovec piece{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length = -1;
  while (length < 0) {
    COHORT_ASSIGN_OR_RETURN(const bool ready, wait_readable(socket, deadline));
    if (!ready) return Error(ErrorCode::kTimedOut, "no packet arrived on a unix socket before the deadline");
    // With MSG_TRUNC the result is the length of the packet even if it does not fit.
    length = ::recvmsg(socket.number(), &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
    if (length < 0 && errno == ECONNRESET) return std::optional<Packet>();
    if (length < 0 && errno != EAGAIN && errno != EINTR) {
      return system_error("cannot read from a unix socket", errno);
    }
  }
  packet.descriptor = first_descriptor(message);
  if (length == 0) return std::optional<Packet>();
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("corrupt packet on a unix socket: length {}, expected at most {}", length, cap_bytes));
  }
  packet.bytes.resize(static_cast<std::size_t>(length));
  return std::optional<Packet>(std::move(packet));
}

}  // namespace cohort::comm
