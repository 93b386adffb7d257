#pragma once

#include "comm/group/communicator.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cohort::comm {

/// A group of ranks of one host that is being made: this rank has allocated its memory of the group.
///
/// Lifetime: may be destroyed unfinished; the memory is kept for ranks that may know its offset.
class PendingHostGroup {
 public:
  /// The parts of the group that the ranks have told each other.
  struct Agreed {
    std::uint32_t number = 0;              ///< of the group
    std::vector<int> members{};            ///< of the job, by rank in the group
    std::vector<std::uint64_t> offsets{};  ///< of their memory
  };

  virtual ~PendingHostGroup() = default;
  /// The offset of this rank's memory of the group in its arena.
  virtual std::uint64_t offset() const = 0;
  /// The group; called once.
  virtual Result<std::unique_ptr<Communicator>> finish(const Agreed& agreed) = 0;
};

/// Makes groups of ranks that share this host's memory, for a communicator whose ranks are on several hosts.
///
/// Threads: every method from any thread.
class HostGroups {
 public:
  virtual ~HostGroups() = default;
  /// True if all these members of the job are on this host.
  virtual bool cover(std::span<const int> members) const = 0;
  /// `facts`: of the new group, as this rank sees it.
  ///
  /// Failure: kExhausted if the arena is full.
  virtual Result<std::unique_ptr<PendingHostGroup>> begin(const GroupFacts& facts) = 0;
};

}  // namespace cohort::comm
