#pragma once

#include "comm/group/group_numbers.h"
#include "comm/group/host_groups.h"
#include "comm/shared_memory/messages.h"
#include "comm/shared_memory/neighbours.h"

#include <memory>
#include <vector>

namespace cohort::comm {

/// The parts that all groups of one process share.
struct HostParts {
  std::shared_ptr<Neighbours> neighbours;
  std::shared_ptr<HostMessages> messages;
  std::shared_ptr<GroupNumbers> numbers;
};

/// Makes SharedMemoryCommunicators of ranks of this host, in a job on several hosts.
class SharedMemoryGroups final : public HostGroups {
 public:
  /// `near`: members of the job on this host, in the order of their numbers on the host.
  SharedMemoryGroups(HostParts host, std::vector<int> near) : host_(std::move(host)), near_(std::move(near)) {}

  bool cover(std::span<const int> members) const override;
  Result<std::unique_ptr<PendingHostGroup>> begin(const GroupFacts& facts) override;

 private:
  const HostParts host_;
  const std::vector<int> near_;
};

/// Allocates this rank's memory of a new group. Members are numbered as in `near`, or as on the host if it is
/// empty.
Result<std::unique_ptr<PendingHostGroup>> begin_shared_memory_group(const HostParts& host,
                                                                    const GroupFacts& facts,
                                                                    std::vector<int> near);

}  // namespace cohort::comm
