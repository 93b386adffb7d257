#pragma once

#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include <cohort/group.h>

#include <memory>

namespace cohort {

/// The state of a Group.
struct Group::Parts {
  std::shared_ptr<void> world;  // what the communicator needs: declared before it, to be destroyed after it
  Arena& arena;
  std::unique_ptr<Communicator> communicator;
};

}  // namespace cohort
