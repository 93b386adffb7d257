#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "net/socket.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cohort::tool {

/// A process that others try to connect to. It answers with its token: private networks of different hosts
/// may use the same addresses, and another process may listen there.
struct ReachTarget {
  std::string token{};
  std::vector<net::SocketAddress> addresses{};

  /// `TOKEN@10.0.0.7:4711,[fd77::7]:4711`
  std::string text() const;
  /// Failure: kUsage for a text of another form.
  static Result<ReachTarget> parse(std::string_view text);
};

/// Listens at the addresses that a rank of this host would give to other hosts, at a port that the kernel
/// chooses, and sends its token to whoever connects.
///
/// Threads: runs a thread of its own.
/// Lifetime: listens until it is destroyed.
/// Failure: as net::published_addresses().
class ReachListener {
 public:
  /// `interfaces`: names of network interfaces; empty: all but loopback.
  static Result<std::unique_ptr<ReachListener>> open(const std::vector<std::string>& interfaces);
  ~ReachListener();
  ReachListener(const ReachListener&) = delete;
  ReachListener& operator=(const ReachListener&) = delete;

  const ReachTarget& target() const { return target_; }

 private:
  ReachListener(ReachTarget target, Descriptor listener, Descriptor stop);
  void serve();

  const ReachTarget target_;
  const Descriptor listener_;
  const Descriptor stop_;  // an eventfd
  std::jthread thread_;
};

/// Tries to connect to all targets at once, to each at all of its addresses. The result has, for each target,
/// the reason why it was not reached; empty if one of its addresses answered.
/// Cost: returns when all targets are decided, at the latest after `limit`.
std::vector<std::optional<std::string>> try_to_reach(std::span<const ReachTarget> targets,
                                                     std::chrono::nanoseconds limit);

}  // namespace cohort::tool
