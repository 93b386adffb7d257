#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace cohort::world {

/// A name of the kernel's at which others on this host can tell that this process is on it. Nobody can guess
/// it.
///
/// Lifetime: others find it open for as long as it lives.
class Door {
 public:
  static Result<Door> open();
  const std::string& name() const { return name_; }

 private:
  Door(std::string name, Descriptor listener) : name_(std::move(name)), listener_(std::move(listener)) {}
  std::string name_;
  Descriptor listener_;
};

/// Which ranks are on this host: those whose door is found here, behind which there is a process of this user
/// that we can see. Our own is one of them.
Result<std::vector<int>> ranks_here(const std::vector<std::string>& doors, int rank);

/// As text for a meeting, and back: `0,1,5`.
std::string ranks_to_text(const std::vector<int>& ranks);

/// Which host each rank is on, from what each rank found here; hosts are counted in the order of their first
/// ranks. kUnsupported if two ranks do not agree.
Result<std::vector<int>> hosts_of_ranks(const std::vector<std::string>& found);

}  // namespace cohort::world
