#include "net/socket.h"

#include "base/system_error.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

namespace cohort::net {
namespace {

constexpr int kBacklog = 512;

void set(const Descriptor& socket, int level, int option, int value) {
  ::setsockopt(socket.number(), level, option, &value, sizeof value);
}

// Keepalive and user timeout: a peer that vanished without a FIN is noticed within four seconds, whether this
// side writes or not.
void prepare(const Descriptor& socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);
}

Error unreachable(const SocketAddress& address, int error) {
  const std::string what = fmt::format("cannot connect to {}", address.text());
  if (error == ECONNREFUSED) {
    return Error(ErrorCode::kPeerLost, fmt::format("{}: no process listens at that address", what));
  }
  return system_error(what, error);
}

}  // namespace

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  const auto wrong = [&](const char* why) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' is not an address with a port: {}", text, why))
        .with_remedy("Write 10.0.0.7:4711, or [fe80::7%eth0]:4711.");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("the port is missing");
  std::string host(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (failure != std::errc() || end != port.data() + port.size() || number > 65535) {
    return wrong("the port is not a number from 0 to 65535");
  }
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return wrong("an IPv6 address needs brackets");
  }
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0) {
    return wrong(::gai_strerror(code));
  }
  const SocketAddress address = of(found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

SocketAddress SocketAddress::of(const sockaddr* address, socklen_t length) {
  SocketAddress result;
  std::memcpy(&result.storage_, address, length);
  result.size_ = length;
  return result;
}

std::string SocketAddress::text() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(data(), size_, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  if (family() == AF_INET6) return fmt::format("[{}]:{}", host.data(), port.data());
  return fmt::format("{}:{}", host.data(), port.data());
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
  SocketAddress result = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(result.storage_).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(result.storage_).sin_port = htons(port);
  }
  return result;
}

Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("cannot resolve the host name '{}': {}", host, ::gai_strerror(code)))
        .with_remedy("Use a name that all hosts can resolve, or an address.");
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    addresses.push_back(SocketAddress::of(each->ai_addr, each->ai_addrlen).with_port(port));
  }
  ::freeaddrinfo(found);
  return addresses;
}

Result<Descriptor> listen_for(const std::vector<SocketAddress>& addresses, std::uint16_t port) {
  if (addresses.size() == 1) return listen_at(addresses.front().with_port(port));
  // On a host with IPv6, an IPv6 socket accepts IPv4 connections as well.
  auto both = listen_at(value_or_throw(SocketAddress::parse("[::]:0")).with_port(port));
  if (both || both.error().code() == ErrorCode::kAlreadyExists) return both;
  return listen_at(value_or_throw(SocketAddress::parse("0.0.0.0:0")).with_port(port));
}

Result<Descriptor> listen_at(const SocketAddress& address) {
  const std::string what = fmt::format("cannot listen at {}", address.text());
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_error(what, errno);
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.number(), address.data(), address.size()) != 0 ||
      ::listen(socket.number(), kBacklog) != 0) {
    const Error error = system_error(what, errno);
    if (errno != EADDRINUSE) return error;
    return Error(ErrorCode::kAlreadyExists, fmt::format("{}: the port is taken", what))
        .with_remedy("Choose another port, or 0 for any free port.");
  }
  return socket;
}

Result<SocketAddress> local_address(const Descriptor& socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return system_error("cannot read the address of a socket", errno);
  }
  return SocketAddress::of(reinterpret_cast<const sockaddr*>(&storage), length);
}

Result<Descriptor> accept_one(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    prepare(socket);
    return socket;
  }
  // Other errors pass: a connection that was reset before it was accepted, or a shortage of descriptors.
  const bool may_go_on = errno != EBADF && errno != EINVAL && errno != ENOTSOCK;
  if (may_go_on) return socket;
  return system_error("cannot accept connections", errno);
}

Result<Descriptor> begin_connect(const SocketAddress& address) {
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_error("cannot make a socket", errno);
  prepare(socket);
  if (::connect(socket.number(), address.data(), address.size()) == 0 || errno == EINPROGRESS) return socket;
  return unreachable(address, errno);
}

bool has_arrived(const Descriptor& socket) {
  int num_under_way = 0;
  return ::ioctl(socket.number(), SIOCOUTQ, &num_under_way) != 0 || num_under_way == 0;
}

Status connect_outcome(const Descriptor& socket, const SocketAddress& address) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error == 0) return {};
  return unreachable(address, error);
}

}  // namespace cohort::net
