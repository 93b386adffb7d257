#pragma once

#include "comm/communicator.h"
#include "comm/scheduled/plan.h"
#include "comm/shared_memory/arena.h"
#include "comm/shared_memory/neighbours.h"
#include "net/job_key.h"
#include "net/meeting.h"
#include "world/far_port.h"
#include "world/hosts_options.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// All ranks of a job on several hosts, as one of them sees them: shared memory inside a host, TCP or UCX
/// between hosts. Who shares a host is found out, not told. If all do, and no algorithm, chunk or wire type
/// is wanted, they form the communicator of shared memory.
///
/// Threads: one at a time; what form() returns as every communicator.
/// Lifetime: the meeting must outlive it, the arena every communicator it formed, too.
/// Failure: kTimedOut names the ranks that did not come, kUsage those that use another engine.
/// Cost: two rounds of the meeting for each generation; three threads for each that lives. The first
/// generation measures links that are not remembered.
class HostsWorld {
 public:
  HostsWorld(net::Meeting& meeting, Arena& arena, const net::JobKey& key, HostsOptions options)
      : meeting_(meeting),
        arena_(arena),
        key_(key),
        options_(std::move(options)),
        pricing_(options_.pricing) {}

  /// The group of all ranks in a generation of its own. The communicators of an earlier one must be gone.
  Result<std::unique_ptr<Communicator>> form(std::uint32_t generation);
  /// How calls of what was formed last become schedules.
  const comm::PlanOptions& plan() const { return plan_; }
  const std::optional<Pricing>& pricing() const { return pricing_; }

 private:
  struct Foundation;
  /// Where everybody is.
  struct Places {
    std::vector<Card> cards;  ///< by rank
    std::vector<int> hosts;   ///< by rank
    std::vector<int> near;    ///< the ranks of our host
  };

  Result<std::vector<std::string>> gather(std::uint32_t generation, const char* what, const std::string& card,
                                          TimePoint deadline);
  Result<std::unique_ptr<FarPort>> open_port() const;
  Result<Places> meet(std::uint32_t generation, const FarPort& port);
  bool can_share_memory(const Places& places) const;
  Result<std::unique_ptr<Communicator>> share_memory(std::uint32_t generation, const Places& places);
  Result<std::unique_ptr<comm::Neighbours>> meet_neighbours(std::uint32_t generation, const Places& places);
  Result<Pricing> find_prices(const std::shared_ptr<Foundation>& foundation, std::uint32_t generation,
                              const Places& places, int lanes) const;
  int lanes_between(const Places& places) const;

  net::Meeting& meeting_;
  Arena& arena_;
  const net::JobKey key_;
  const HostsOptions options_;
  std::optional<Pricing> pricing_;
  comm::PlanOptions plan_;
};

}  // namespace cohort::world
