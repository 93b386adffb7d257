#include "measure/line_socket.h"

#include "base/system_error.h"
#include "base/unix_address.h"
#include "measure/protocol.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>

namespace cohort::measure {
namespace {

Result<Descriptor> make_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return system_error("cannot create a control socket", errno);
  return socket;
}

int milliseconds_until(TimePoint deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  constexpr std::int64_t kHour = 3'600'000;
  return static_cast<int>(std::clamp<std::int64_t>(whole, 0, kHour));
}

Result<bool> wait_for(std::vector<pollfd> entries, TimePoint deadline) {
  const auto ready =
      uninterrupted([&] { return ::poll(entries.data(), entries.size(), milliseconds_until(deadline)); });
  if (ready < 0) return system_error("cannot wait for a participant", errno);
  return ready > 0;
}

Error lost(int reason) {
  if (reason == 0) return Error(ErrorCode::kPeerLost, "the connection was closed");
  return Error(ErrorCode::kPeerLost, system_error("the connection broke", reason).message());
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::getuid();
}

}  // namespace

Result<bool> wait_readable(const std::vector<int>& descriptors, TimePoint deadline) {
  std::vector<pollfd> entries;
  for (const int descriptor : descriptors) {
    entries.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  return wait_for(std::move(entries), deadline);
}

Status LineSocket::write_line(std::string_view line, TimePoint deadline) {
  const std::string text = std::string(line) + '\n';
  for (std::size_t done = 0; done < text.size();) {
    const auto count = uninterrupted([&] {
      return ::send(number(), text.data() + done, text.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    });
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
      continue;
    }
    if (errno != EAGAIN) return lost(errno);
    COHORT_ASSIGN_OR_RETURN(const bool ready,
                            wait_for({{.fd = number(), .events = POLLOUT, .revents = 0}}, deadline));
    if (!ready) return Error(ErrorCode::kTimedOut, "the other end did not read the line by the deadline");
  }
  return {};
}

std::optional<std::string> LineSocket::take_line() {
  const auto end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

// Returns false when no byte is there.
Result<bool> LineSocket::receive_some() {
  std::array<char, 65536> piece{};
  const auto count =
      uninterrupted([&] { return ::recv(number(), piece.data(), piece.size(), MSG_DONTWAIT); });
  if (count < 0 && errno == EAGAIN) return false;
  if (count <= 0) return lost(count == 0 ? 0 : errno);
  received_.append(piece.data(), static_cast<std::size_t>(count));
  if (received_.size() > kLongestLineBytes) {
    return Error(ErrorCode::kCorrupt, fmt::format("corrupt line: length is {} or more, expected at most {}",
                                                  received_.size(), kLongestLineBytes));
  }
  return true;
}

Result<std::optional<std::string>> LineSocket::poll_line() {
  while (true) {
    if (auto line = take_line()) return line;
    COHORT_ASSIGN_OR_RETURN(const bool came, receive_some());
    if (!came) return std::optional<std::string>();
  }
}

Result<std::string> LineSocket::read_line(TimePoint deadline) {
  while (true) {
    COHORT_ASSIGN_OR_RETURN(auto line, poll_line());
    if (line) return *std::move(line);
    COHORT_ASSIGN_OR_RETURN(const bool ready, wait_readable({number()}, deadline));
    if (!ready) return Error(ErrorCode::kTimedOut, "no line arrived by the deadline");
  }
}

Result<LineListener> LineListener::open() {
  std::random_device random;
  std::string name = fmt::format("cohort-bench-{:08x}{:08x}{:08x}", random(), random(), random());
  COHORT_ASSIGN_OR_RETURN(const UnixAddress target, abstract_address(name));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, make_socket());
  const auto* address = target.get();
  if (::bind(socket.number(), address, target.length) != 0) {
    return system_error("cannot bind a control socket", errno);
  }
  if (::listen(socket.number(), SOMAXCONN) != 0) {
    return system_error("cannot listen on a control socket", errno);
  }
  return LineListener(std::move(socket), std::move(name));
}

Result<std::optional<LineSocket>> LineListener::accept(TimePoint deadline) {
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool ready, wait_readable({socket_.number()}, deadline));
    if (!ready) return std::optional<LineSocket>();
    Descriptor socket(
        uninterrupted([&] { return ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC); }));
    if (!socket.is_open()) return system_error("cannot accept a participant", errno);
    if (same_user(socket.number())) return std::optional<LineSocket>(LineSocket(std::move(socket)));
  }
}

Result<LineSocket> connect_lines(const std::string& name) {
  COHORT_ASSIGN_OR_RETURN(const UnixAddress target, abstract_address(name));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, make_socket());
  const auto* address = target.get();
  const auto result = uninterrupted([&] { return ::connect(socket.number(), address, target.length); });
  if (result != 0) return system_error(fmt::format("cannot reach the controller at '{}'", name), errno);
  return LineSocket(std::move(socket));
}

}  // namespace cohort::measure
