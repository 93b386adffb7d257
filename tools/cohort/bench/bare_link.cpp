#include "bench/bare_link.h"

#include "base/system_error.h"
#include "net/own_addresses.h"
#include "net/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace cohort::tool {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kConnectLimit = 10s;
constexpr std::size_t kAddressBytes = 128;

Status wait_for(const Descriptor& socket, short what, TimePoint deadline) {
  while (true) {
    pollfd poll{.fd = socket.number(), .events = what, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    const int ready = ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready > 0) return {};
    if (ready == 0 || errno != EINTR) return Error(ErrorCode::kTimedOut, "the bare link does not move");
  }
}

// Rank 0 says where it listens.
Result<net::SocketAddress> told_address(Communicator& group, const std::string& own) {
  std::array<std::uint8_t, kAddressBytes> text{};
  std::copy_n(own.begin(), std::min(own.size(), text.size() - 1), text.begin());
  COHORT_RETURN_IF_ERROR(group.run(broadcast({text.data(), text.size(), DType::kU8}, 0)));
  return net::SocketAddress::parse(reinterpret_cast<const char*>(text.data()));
}

Result<Descriptor> accept_within(const Descriptor& listener) {
  COHORT_RETURN_IF_ERROR(wait_for(listener, POLLIN, steady_clock::now() + kConnectLimit));
  return net::accept_one(listener);
}

Result<Descriptor> connect_within(const net::SocketAddress& address) {
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, net::begin_connect(address));
  COHORT_RETURN_IF_ERROR(wait_for(socket, POLLOUT, steady_clock::now() + kConnectLimit));
  COHORT_RETURN_IF_ERROR(net::connect_outcome(socket, address));
  return socket;
}

Status send_all(const Descriptor& socket, std::span<const std::byte> bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN || errno == EINTR) {
      COHORT_RETURN_IF_ERROR(wait_for(socket, POLLOUT, deadline));
    } else {
      return system_error("sending over the bare link", errno);
    }
  }
  return {};
}

Status receive_all(const Descriptor& socket, std::span<std::byte> bytes, TimePoint deadline) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return Error(ErrorCode::kPeerLost, "the bare link was closed");
    } else if (errno == EAGAIN || errno == EINTR) {
      COHORT_RETURN_IF_ERROR(wait_for(socket, POLLIN, deadline));
    } else {
      return system_error("receiving over the bare link", errno);
    }
  }
  return {};
}

}  // namespace

Result<BareLink> BareLink::open(Communicator& group, const std::vector<std::string>& interfaces) {
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(const auto published, net::published_addresses(own, interfaces));
  COHORT_ASSIGN_OR_RETURN(const Descriptor listener, net::listen_at(published.front()));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(listener));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress there, told_address(group, bound.text()));
  Descriptor socket;
  if (group.rank() == 1) {
    COHORT_ASSIGN_OR_RETURN(socket, connect_within(there));
  } else if (group.rank() == 0) {
    COHORT_ASSIGN_OR_RETURN(socket, accept_within(listener));
  }
  return BareLink(group.rank(), std::move(socket));
}

Result<double> BareLink::seconds_for(std::size_t size_bytes, std::chrono::nanoseconds limit) {
  if (rank_ > 1) return 0.0;
  std::vector<std::byte> bytes(size_bytes);
  std::array<std::byte, 1> done{};
  const auto begin = steady_clock::now();
  if (rank_ == 0) {
    COHORT_RETURN_IF_ERROR(send_all(socket_, bytes, begin + limit));
    COHORT_RETURN_IF_ERROR(receive_all(socket_, done, begin + limit));
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  }
  COHORT_RETURN_IF_ERROR(receive_all(socket_, bytes, begin + limit));
  COHORT_RETURN_IF_ERROR(send_all(socket_, done, begin + limit));
  return 0.0;
}

}  // namespace cohort::tool
