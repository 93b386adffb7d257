#pragma once

#include "comm/transport/transport.h"
#include "net/job_key.h"
#include "net/station.h"
#include "world/card.h"
#include "world/hosts_options.h"

#include <memory>
#include <vector>

namespace cohort::world {

/// Where ranks of other hosts reach this one, before it knows them.
///
/// Threads: one at a time.
/// Lifetime: must outlive its doorbell and its transport.
class FarPort {
 public:
  /// Everybody, as one of them sees them.
  struct Company {
    int rank = 0;
    const std::vector<Card>& cards;
    const std::vector<int>& hosts;  ///< which host each rank is on; those of our own are not talked to here
    int lanes = 1;                  ///< connections between two ranks, where they are of that kind
  };

  virtual ~FarPort() = default;

  /// Writes on the card where it is reached, and by what.
  virtual void sign(Card& card) const = 0;
  /// Rung by what comes from other hosts.
  virtual std::unique_ptr<comm::Doorbell> make_doorbell() = 0;
  /// Once. The clock must outlive the transport.
  virtual Result<std::unique_ptr<comm::Transport>> join(const Company& company, Clock& clock) = 0;
  /// How fast this process is to send, in bytes per second, where somebody has to say so. After join().
  virtual void set_pace(double bytes_per_s) { (void)bytes_per_s; }
  /// Whether long payloads take all lanes, or one. After join().
  virtual void set_striping(net::Striping striping) { (void)striping; }
};

Result<std::unique_ptr<FarPort>> open_tcp_port(const HostsOptions& options, const net::JobKey& key);
Result<std::unique_ptr<FarPort>> open_ucx_port(const HostsOptions& options);

}  // namespace cohort::world
