#pragma once

#include "comm/group/communicator.h"
#include "comm/group/group_numbers.h"
#include "comm/group/host_groups.h"
#include "comm/message_passing/plan.h"
#include "comm/shared_memory/arena.h"
#include "comm/shared_memory/neighbours.h"
#include "net/job_key.h"
#include "net/meeting.h"
#include "world/far_port.h"
#include "world/hosts_options.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// Forms the group of all ranks of a job on several hosts: shared memory inside a host, TCP or UCX between
/// hosts. The ranks find out by themselves which of them share a host. If all do, and the user has set no
/// algorithm, chunk or wire type, the result is a SharedMemoryCommunicator.
///
/// Threads: one at a time.
/// Lifetime: the meeting must outlive this object; the arena must also outlive every communicator it formed.
/// Communicators of an earlier generation may live on if their engine was closed.
/// Failure: kTimedOut names the ranks that are missing, kUsage a rank with another backend.
/// Cost: two rounds of the meeting for each generation, and up to three threads while its communicators live.
/// The first generation measures the links that are not in the cache.
class HostsWorld {
 public:
  HostsWorld(net::Meeting& meeting, Arena& arena, const net::JobKey& key, HostsOptions options)
      : meeting_(meeting),
        arena_(arena),
        key_(key),
        options_(std::move(options)),
        pricing_(options_.pricing) {}

  /// The ranks that form a generation, from the view of one of them.
  struct Part {
    std::uint32_t generation = 0;
    int rank = 0;                ///< in the group
    std::vector<int> members{};  ///< by rank: their ranks in the job
    std::uint64_t checksum = 0;  ///< of the list of members and roles, the same on all of them
    std::shared_ptr<const comm::GenerationEnd> end{};
    std::function<std::optional<Error>()> hopeless{};  ///< as in net::Round
    /// Called with the ranks of this host once they have met; `near`: their ranks in the group.
    std::function<void(comm::Neighbours&, const std::vector<int>& near)> on_met{};

    int size() const { return static_cast<int>(members.size()); }
  };

  /// Forms the group of all ranks. Communicators of an earlier generation must have been destroyed, or their
  /// engine closed.
  Result<std::unique_ptr<Communicator>> form(std::uint32_t generation);
  /// Forms the group of some ranks.
  Result<std::unique_ptr<Communicator>> form(const Part& part);
  /// The host of each rank of the last group.
  const std::vector<int>& hosts() const { return plan_.hosts; }
  /// The plan options of the last group: how its calls become schedules.
  const comm::PlanOptions& plan() const { return plan_; }
  const std::optional<Pricing>& pricing() const { return pricing_; }

 private:
  struct Foundation;
  /// All ranks and their hosts.
  struct Roster {
    std::vector<Card> cards;  ///< by rank
    std::vector<int> hosts;   ///< host of each rank
    std::vector<int> near;    ///< the ranks of this host
  };

  Result<std::vector<std::string>> gather(const Part& part, const char* what, const std::string& card,
                                          TimePoint deadline);
  Result<std::unique_ptr<FarPort>> open_port() const;
  Result<Roster> meet(const Part& part, const FarPort& port);
  bool can_share_memory(const Roster& roster) const;
  Result<std::unique_ptr<Communicator>> share_memory(const Part& part, const Roster& roster);
  Result<std::unique_ptr<comm::Neighbours>> meet_neighbours(const Part& part, const Roster& roster);
  Result<Pricing> find_prices(const std::shared_ptr<Foundation>& foundation, const Part& part,
                              const Roster& roster, int rails) const;
  int rails_between(const Roster& roster) const;
  std::shared_ptr<comm::HostGroups> host_groups(const std::shared_ptr<Foundation>& foundation,
                                                const Roster& roster,
                                                std::shared_ptr<comm::GroupNumbers> numbers) const;

  net::Meeting& meeting_;
  Arena& arena_;
  const net::JobKey key_;
  const HostsOptions options_;
  std::optional<Pricing> pricing_;
  comm::PlanOptions plan_;
};

/// A text for users: the measured cost of links, the number of sockets for long payloads, and for every
/// operation at some sizes the algorithm and its predicted time.
std::string explain(const comm::PlanOptions& plan, int world, int sockets);

}  // namespace cohort::world
