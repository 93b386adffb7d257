#pragma once

#include "comm/group/communicator.h"

#include <chrono>
#include <memory>
#include <span>

namespace cohort::nn {

/// Whether the batches of a rank are part of the statistics.
enum class Standing {
  kCounts,   ///< they are
  kStandIn,  ///< the rank takes part in forward and backward, and adds nothing
};

/// Who gave the layers their group. A training takes over layers that another training has connected.
enum class ConnectedBy { kUser, kTraining };

/// Adds up the statistics of batch normalisation over ranks. All layers of a module share one, with a
/// communicator of its own.
///
/// Threads: one at a time; the communicator's abort() from any.
/// Lifetime: the group must outlive it, unless `keeps` keeps it alive.
/// Failure: throws what the group reports.
/// Cost: one all-reduce for each add_up(); nothing for one rank.
class StatisticsExchange {
 public:
  /// All ranks of the group call it together.
  static std::shared_ptr<StatisticsExchange> make(Communicator& group, ConnectedBy who,
                                                  std::shared_ptr<void> keeps = nullptr);

  ConnectedBy connected_by() const { return who_; }
  int size() const { return own_->size(); }
  Communicator& communicator() const { return *own_; }
  /// The sums over all ranks, in place.
  void add_up(std::span<double> numbers);

  /// Of the next forwards of this rank.
  Standing standing() const { return standing_; }
  void set_standing(Standing standing) { standing_ = standing; }

  /// The total time in add_up().
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  StatisticsExchange(std::unique_ptr<Communicator> own, ConnectedBy who, std::shared_ptr<void> keeps)
      : keeps_(std::move(keeps)), own_(std::move(own)), who_(who) {}

  const std::shared_ptr<void> keeps_;  // before the communicator, to be destroyed after it; may be null
  const std::unique_ptr<Communicator> own_;
  const ConnectedBy who_;
  Standing standing_ = Standing::kCounts;
  std::chrono::nanoseconds waited_{0};
};

}  // namespace cohort::nn
