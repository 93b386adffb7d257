#pragma once

#include "base/home_process.h"
#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include <cohort/group.h>

#include <memory>
#include <utility>

namespace cohort {

/// The state of a Group.
struct Group::Parts {
  std::shared_ptr<void> world;  // what the communicator needs: declared before it, to be destroyed after it
  Arena& arena;
  std::unique_ptr<Communicator> communicator;

  /// A child made by fork() does not destroy the parts that it has a copy of.
  static std::shared_ptr<Parts> make(std::shared_ptr<void> world, Arena& arena,
                                     std::unique_ptr<Communicator> communicator) {
    return {new Parts{std::move(world), arena, std::move(communicator)}, DeleteAtHome()};
  }
};

}  // namespace cohort
