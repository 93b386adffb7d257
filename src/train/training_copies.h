#pragma once

#include "checkpoint/manifest.h"
#include "train/kept_state.h"
#include <cohort/trainer.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace cohort::train {

/// The copies in memory of the state and the course of a trainer, if its options ask for them. Also a group
/// as abort.h asks for one.
///
/// Threads: one at a time; all ranks call resume() and keep() together.
/// Lifetime: group and options must outlive it.
/// Failure: as KeptState.
/// Cost: as KeptState; nothing without copies.
class TrainingCopies {
 public:
  TrainingCopies(Communicator& group, const TrainerOptions& options);

  /// The memory to fill, for a course that was kept.
  using Targets = std::function<Result<std::vector<Piece>>(const checkpoint::Course& saved)>;
  /// Joins the group. Fills the targets and `course` from the newest version, and keeps it among the ranks of
  /// this group. Nothing if there is none.
  std::optional<ResumeReport> resume(checkpoint::Course& course, const Targets& targets);
  /// Why resume() found nothing, although copies were kept.
  const std::optional<Error>& loss() const { return loss_; }

  bool is_due(std::int64_t step) const { return kept_ != nullptr && step % every_ == 0; }
  void keep(std::vector<Piece> pieces, const checkpoint::Course& course);
  void training_is_over();

  int rank() const { return group_.rank(); }
  int global_rank(int rank) const { return group_.global_rank(rank); }
  void abort(const Error& cause);

 private:
  Communicator& group_;
  KeptState* const kept_;  // null: no copies
  const std::int64_t every_;
  std::optional<Error> loss_{};
};

}  // namespace cohort::train
