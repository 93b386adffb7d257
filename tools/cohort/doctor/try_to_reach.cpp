#include "base/clock.h"
#include "base/units.h"
#include "doctor/reach.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

/// The attempt to reach one target at one of its addresses.
class ReachAttempt {
 public:
  ReachAttempt(const ReachTarget& target, const net::SocketAddress& address)
      : target_(target), address_(address) {
    Result<Descriptor> socket = net::begin_connect(address);
    if (socket) {
      socket_ = std::move(*socket);
    } else {
      failure_ = socket.error().message();
    }
  }

  bool is_under_way() const { return !is_reached_ && !failure_; }
  bool is_reached() const { return is_reached_; }
  /// Empty while the attempt is under way, and if the target was reached.
  const std::optional<std::string>& failure() const { return failure_; }
  const net::SocketAddress& address() const { return address_; }

  pollfd wanted() const {
    return {socket_.number(), static_cast<short>(is_connected_ ? POLLIN : POLLOUT), 0};
  }
  /// The socket is ready.
  void advance() {
    if (is_connected_) return hear();
    const Status connected = net::connect_outcome(socket_, address_);
    if (!connected) failure_ = connected.error().message();
    is_connected_ = true;
  }

 private:
  void hear() {
    std::array<char, 64> piece{};
    const ssize_t count = ::read(socket_.number(), piece.data(), piece.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    heard_.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    is_reached_ = heard_ == target_.token;
    const bool is_another = count <= 0 || !target_.token.starts_with(heard_);
    if (is_another) failure_ = fmt::format("another program answered at {}", address_.text());
  }

  const ReachTarget& target_;
  const net::SocketAddress address_;
  Descriptor socket_;
  bool is_connected_ = false;
  bool is_reached_ = false;
  std::string heard_;
  std::optional<std::string> failure_;
};

using ReachAttempts = std::vector<std::unique_ptr<ReachAttempt>>;

bool is_decided(const ReachAttempts& attempts) {
  return std::any_of(attempts.begin(), attempts.end(), [](const auto& each) { return each->is_reached(); }) ||
         std::none_of(attempts.begin(), attempts.end(),
                      [](const auto& each) { return each->is_under_way(); });
}

// The attempts that may still decide something.
std::vector<ReachAttempt*> open_attempts(const std::vector<ReachAttempts>& all) {
  std::vector<ReachAttempt*> open;
  for (const ReachAttempts& attempts : all) {
    if (is_decided(attempts)) continue;
    for (const auto& attempt : attempts) {
      if (attempt->is_under_way()) open.push_back(attempt.get());
    }
  }
  return open;
}

std::optional<std::string> why_not_reached(const ReachAttempts& attempts, std::chrono::nanoseconds limit) {
  std::vector<std::string> silent;
  std::vector<std::string> reasons;
  for (const auto& attempt : attempts) {
    if (attempt->is_reached()) return std::nullopt;
    if (attempt->failure()) reasons.push_back(*attempt->failure());
    if (attempt->is_under_way()) silent.push_back(attempt->address().text());
  }
  if (!silent.empty()) {
    reasons.insert(reasons.begin(), fmt::format("no answer from {} within {}", fmt::join(silent, " and "),
                                                format_duration(limit)));
  }
  return reasons.empty() ? "it has no address" : fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace

std::vector<std::optional<std::string>> try_to_reach(std::span<const ReachTarget> targets,
                                                     std::chrono::nanoseconds limit) {
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit);
  std::vector<ReachAttempts> all(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (const net::SocketAddress& address : targets[i].addresses) {
      all[i].push_back(std::make_unique<ReachAttempt>(targets[i], address));
    }
  }
  for (auto open = open_attempts(all); !open.empty(); open = open_attempts(all)) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    std::vector<pollfd> sockets;
    for (const ReachAttempt* attempt : open) sockets.push_back(attempt->wanted());
    if (::poll(sockets.data(), sockets.size(), static_cast<int>(left.count())) < 0) continue;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (sockets[i].revents != 0) open[i]->advance();
    }
  }
  std::vector<std::optional<std::string>> reasons;
  for (const ReachAttempts& attempts : all) reasons.push_back(why_not_reached(attempts, limit));
  return reasons;
}

}  // namespace cohort::tool
