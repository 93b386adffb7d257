#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace cohort::world {

/// An abstract Unix socket with a random name. A process that can connect to it is on the same host.
///
/// Threads: one at a time.
/// Lifetime: other processes can connect as long as the Door lives.
class Door {
 public:
  static Result<Door> open();
  const std::string& name() const { return name_; }

 private:
  Door(std::string name, Descriptor listener) : name_(std::move(name)), listener_(std::move(listener)) {}
  std::string name_;
  Descriptor listener_;
};

/// The ranks on this host, including the own `rank`: those whose door accepts a connection and belongs to a
/// process of this user in the same process namespace.
Result<std::vector<int>> ranks_here(const std::vector<std::string>& doors, int rank);

/// `0,1,5`: the card of the second round of the meeting.
std::string ranks_to_text(const std::vector<int>& ranks);

/// The host of each rank, from the results of ranks_here() on all ranks. Hosts are numbered in the order of
/// their first ranks. kUnsupported if two ranks disagree.
Result<std::vector<int>> hosts_of_ranks(const std::vector<std::string>& found);

}  // namespace cohort::world
