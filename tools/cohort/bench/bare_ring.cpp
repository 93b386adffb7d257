#include "bench/bare_ring.h"

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

Status wait_for(std::span<pollfd> sockets, TimePoint deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    const int ready =
        ::poll(sockets.data(), sockets.size(), static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready > 0) return {};
    if (ready == 0 || errno != EINTR) {
      return Error(ErrorCode::kTimedOut, "the bare connection makes no progress");
    }
  }
}

Status wait_for(const Descriptor& socket, short what, TimePoint deadline) {
  pollfd poll{.fd = socket.number(), .events = what, .revents = 0};
  return wait_for({&poll, 1}, deadline);
}

// Every rank publishes its listening address.
Result<net::SocketAddress> address_of_next(Communicator& group, const std::string& own) {
  std::array<std::uint8_t, kAddressBytes> text{};
  std::copy_n(own.begin(), std::min(own.size(), text.size() - 1), text.begin());
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<std::uint8_t> all(ranks * kAddressBytes);
  COHORT_RETURN_IF_ERROR(group.run(
      all_gather(ConstNumbers(text.data(), text.size(), DType::kU8), {all.data(), all.size(), DType::kU8})));
  const std::size_t next = (static_cast<std::size_t>(group.rank()) + 1) % ranks;
  return net::SocketAddress::parse(reinterpret_cast<const char*>(all.data() + next * kAddressBytes));
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

// The bytes that a call on a non-blocking socket moved; 0: it would block.
Result<std::size_t> moved(ssize_t outcome, const char* what) {
  if (outcome >= 0) return static_cast<std::size_t>(outcome);
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return system_error(what, errno);
}

}  // namespace

Result<std::size_t> send_some(const Descriptor& socket, std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::size_t{0};
  return moved(::send(socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL),
               "sending over a bare connection");
}

Result<std::size_t> receive_some(const Descriptor& socket, std::span<std::byte> room) {
  if (room.empty()) return std::size_t{0};
  const ssize_t got = ::recv(socket.number(), room.data(), room.size(), MSG_DONTWAIT);
  if (got == 0) return Error(ErrorCode::kPeerLost, "a bare connection was closed");
  return moved(got, "receiving over a bare connection");
}

Result<BareRing> BareRing::open(Communicator& group, const std::vector<std::string>& interfaces) {
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(const auto published, net::published_addresses(own, interfaces));
  COHORT_ASSIGN_OR_RETURN(const Descriptor listener, net::listen_at(published.front()));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(listener));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress next, address_of_next(group, bound.text()));
  COHORT_ASSIGN_OR_RETURN(Descriptor to_next, connect_within(next));
  COHORT_ASSIGN_OR_RETURN(Descriptor from_last, accept_within(listener));
  return BareRing(group.rank(), std::move(to_next), std::move(from_last));
}

Status BareRing::exchange(std::span<const std::byte> out, std::span<std::byte> in, TimePoint deadline) {
  while (!out.empty() || !in.empty()) {
    COHORT_ASSIGN_OR_RETURN(const std::size_t sent, send_some(to_next_, out));
    COHORT_ASSIGN_OR_RETURN(const std::size_t received, receive_some(from_last_, in));
    out = out.subspan(sent);
    in = in.subspan(received);
    if (sent + received > 0) continue;
    std::array polls = {pollfd{.fd = out.empty() ? -1 : to_next_.number(), .events = POLLOUT, .revents = 0},
                        pollfd{.fd = in.empty() ? -1 : from_last_.number(), .events = POLLIN, .revents = 0}};
    COHORT_RETURN_IF_ERROR(wait_for(polls, deadline));
  }
  return {};
}

// Rank 1 answers around the ring, with one byte whose time is negligible.
Result<double> BareRing::seconds_of_one(std::size_t size_bytes, std::chrono::nanoseconds limit) {
  std::vector<std::byte> bytes(size_bytes);
  std::array<std::byte, 1> done{};
  const auto begin = steady_clock::now();
  if (rank_ == 0) {
    COHORT_RETURN_IF_ERROR(exchange(bytes, done, begin + limit));
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
  }
  COHORT_RETURN_IF_ERROR(
      exchange({}, rank_ == 1 ? std::span(bytes) : std::span<std::byte>(done), begin + limit));
  COHORT_RETURN_IF_ERROR(exchange(done, {}, begin + limit));
  return 0.0;
}

Result<double> BareRing::seconds_of_all(std::size_t size_bytes, std::chrono::nanoseconds limit) {
  const std::vector<std::byte> out(size_bytes);
  std::vector<std::byte> in(size_bytes);
  const auto begin = steady_clock::now();
  COHORT_RETURN_IF_ERROR(exchange(out, in, begin + limit));
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

}  // namespace cohort::tool
