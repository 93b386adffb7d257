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

/// Messages over UCX: InfiniBand, RoCE, TCP, whatever the library on this machine has. It is loaded when it
/// is asked for; nobody who links Cohort needs it.
namespace cohort::ucx {

struct UcxOptions {
  /// What is set over what UCX finds in its own environment: {"TLS", "tcp"}, {"NET_DEVICES", "lo"}, …
  std::vector<std::pair<std::string, std::string>> settings{};
  /// A payload that is on its way cannot be taken back: how long withdraw() and give_up() let the other side
  /// finish it, before the member counts as lost. Nothing else goes on meanwhile: shorter than any liveness
  /// limit.
  std::chrono::nanoseconds take_back_limit = std::chrono::milliseconds(250);
  /// How long a member that leaves waits for others to take what it has sent.
  std::chrono::nanoseconds leave_limit = std::chrono::seconds(2);
};

/// Who takes part, and how they are reached.
struct UcxFacts {
  int member = 0;
  /// By member, as their ports say; an empty one is of somebody whom we do not talk to here.
  std::vector<std::vector<std::byte>> addresses{};
};

/// Where this process can be reached, before it knows the others.
///
/// Threads: one at a time.
/// Lifetime: transport and doorbell may outlive it.
class UcxPort {
 public:
  virtual ~UcxPort() = default;

  /// What the others need to know; opaque, some hundred bytes.
  virtual const std::vector<std::byte>& address() const = 0;
  /// What the progress thread of this port's transport sleeps at.
  virtual std::unique_ptr<comm::Doorbell> make_doorbell() = 0;
  /// Once. The clock must outlive the transport.
  virtual Result<std::unique_ptr<comm::Transport>> join(const UcxFacts& facts, Clock& clock) = 0;
};

/// Failure: kUnsupported with the package to install where UCX is missing, too old, or was not there when
/// Cohort was built; kUsage for a setting that it does not know.
Result<std::unique_ptr<UcxPort>> open_ucx_port(const UcxOptions& options);

}  // namespace cohort::ucx
