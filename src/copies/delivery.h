#pragma once

#include "comm/group/work.h"
#include "copies/shelf.h"

#include <vector>

namespace cohort::copies {

/// The messages that bring the parcels of one version to their keepers, in the background. They are sent from
/// the slot, so the state may change meanwhile.
///
/// Threads: one at a time.
/// Lifetime: the shelf must outlive the messages: until finish(), or until the group is destroyed.
/// Failure: a parcel of which a message failed stays unsealed.
class Delivery {
 public:
  /// All ranks of the group call this together, after Shelf::copy().
  void start(Communicator& group, const Shelf& shelf, std::size_t slot, const Stamp& stamp);
  /// Waits for the messages and seals the parcels that have come. Returns the first failure.
  Status finish();

 private:
  struct Incoming {
    std::size_t parcel;
    std::vector<comm::Work> works;
  };
  Area area_{nullptr, {}};
  std::size_t slot_ = 0;
  Stamp stamp_{};
  std::vector<comm::Work> sent_;
  std::vector<Incoming> incoming_;
};

}  // namespace cohort::copies
