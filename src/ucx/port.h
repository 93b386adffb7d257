#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "comm/transport/transport.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Messages over UCX: InfiniBand, RoCE, TCP, and whatever else the installed library supports. UCX is loaded
/// at run time by open_ucx_port(); programs that link Cohort do not depend on it.
namespace cohort::ucx {

/// Settings of UCX, and limits for ending messages.
struct UcxOptions {
  /// Settings that override the UCX_… environment variables: {"TLS", "tcp"}, {"NET_DEVICES", "lo"}, …
  std::vector<std::pair<std::string, std::string>> settings{};
  /// A send in flight cannot be cancelled: withdraw() and give_up() wait this long for the peer to finish it;
  /// then the member counts as lost. Nothing else is sent meanwhile, so this must be shorter than any
  /// liveness limit.
  std::chrono::nanoseconds withdraw_limit = std::chrono::milliseconds(250);
  /// How long a member that leaves waits until the others have received what it sent.
  std::chrono::nanoseconds leave_limit = std::chrono::seconds(2);
};

/// The own member number and the addresses of all members.
struct UcxFacts {
  int member = 0;
  /// Index: member; value: UcxPort::address() of that member; empty for members that this one does not talk
  /// to.
  std::vector<std::vector<std::byte>> addresses{};
};

/// The address of this process, before it knows the other members.
///
/// Threads: one at a time.
/// Lifetime: transport and doorbell may outlive it.
class UcxPort {
 public:
  virtual ~UcxPort() = default;

  /// The address that the other members need; opaque, some hundred bytes.
  virtual const std::vector<std::byte>& address() const = 0;
  /// The doorbell for the progress thread of this port's transport.
  virtual std::unique_ptr<comm::Doorbell> make_doorbell() = 0;
  /// Makes the transport; called once. The clock must outlive the transport.
  virtual Result<std::unique_ptr<comm::Transport>> join(const UcxFacts& facts, Clock& clock) = 0;
};

/// Loads UCX and opens a worker.
///
/// Failure: kUnsupported names the package to install if UCX is missing, too old, or was missing when Cohort
/// was built; kUsage for a setting that UCX does not know.
Result<std::unique_ptr<UcxPort>> open_ucx_port(const UcxOptions& options);

}  // namespace cohort::ucx
