#pragma once

#include "comm/communicator.h"
#include "train/lock_step.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::train {

/// What one rank says about its part of a step: 64 bytes.
struct Tally {
  double loss = 0;             ///< summed over its samples
  double weight = 0;           ///< samples
  double correct = 0;          ///< right answers
  double counted = 0;          ///< answers
  double square_sum = 0;       ///< of the gradients it has reduced
  std::int64_t bad_slot = -1;  ///< the first whose loss is not finite
  std::uint64_t replica_hash = 0;
  std::uint32_t has_hash = 0;
  std::uint32_t wants_to_stop = 0;
};
static_assert(sizeof(Tally) == 64);

/// Where a loss was not finite: the first such slot of the first such rank.
struct BadLoss {
  int rank;
  std::int64_t slot;
  double loss;
};

/// What follows from all tallies, the same on every rank.
struct Verdict {
  enum class Kind { kApply, kSkip } kind = Kind::kApply;
  double loss = 0;  ///< mean over all samples
  double weight = 0;
  double correct = 0;
  double counted = 0;
  double gradient_norm = 0;  ///< of the mean gradient
  bool stop = false;         ///< somebody wants to stop
  std::optional<BadLoss> bad_loss;
};

/// Every rank tells its tally and hears everybody's.
/// Failure: throws; kCorrupt names ranks whose parameters differ from those of most.
Verdict vote(Communicator& group, const Tally& mine, Summation summation);

/// The ranks whose hash is not that of most, of rank 0 if there is no majority.
std::vector<int> deviating_ranks(const std::vector<std::uint64_t>& hashes);

}  // namespace cohort::train
