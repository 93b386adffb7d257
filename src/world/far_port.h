#pragma once

#include "comm/transport/transport.h"
#include "net/job_key.h"
#include "net/station.h"
#include "world/card.h"
#include "world/hosts_options.h"

#include <memory>
#include <vector>

namespace cohort::world {

/// The endpoint for ranks of other hosts, over TCP or UCX. It exists before the other ranks are known, as its
/// address goes on the card that they get.
///
/// Threads: one at a time.
/// Lifetime: must outlive its doorbell and its transport.
class FarPort {
 public:
  /// All ranks of the job, from the view of one.
  struct Peers {
    int rank = 0;
    const std::vector<Card>& cards;  ///< by rank
    const std::vector<int>& hosts;   ///< host of each rank; the transport reaches ranks of other hosts only
    int rails = 1;                   ///< TCP: connections between two ranks
  };

  virtual ~FarPort() = default;

  /// Fills in backend and address of this rank.
  virtual void sign(Card& card) const = 0;
  /// A doorbell that rings when messages from other hosts come.
  virtual std::unique_ptr<comm::Doorbell> make_doorbell() = 0;
  /// Makes the transport. May be called once; the clock must outlive the transport.
  virtual Result<std::unique_ptr<comm::Transport>> join(const Peers& peers, Clock& clock) = 0;
  /// TCP: the rate limit of this process, see net::Pace. After join().
  virtual void set_pace(double bytes_per_s) { (void)bytes_per_s; }
  /// TCP: whether long payloads are striped over all rails. After join().
  virtual void set_striping(net::Striping striping) { (void)striping; }
};

Result<std::unique_ptr<FarPort>> open_tcp_port(const HostsOptions& options, const net::JobKey& key);
Result<std::unique_ptr<FarPort>> open_ucx_port(const HostsOptions& options);

}  // namespace cohort::world
