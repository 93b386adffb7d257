#pragma once

#include "base/exact_sum.h"
#include "comm/group/communicator.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort::train {

/// One rank's results of a step: 264 bytes on the wire.
struct Tally {
  double loss = 0;                 ///< sum over the samples of the rank
  double weight = 0;               ///< sum of the weights of its micro-batches
  double samples = 0;              ///< number of samples
  double correct = 0;              ///< number of right answers
  double counted = 0;              ///< number of answers
  ExactSum square_sum{};           ///< of the gradients that the rank has reduced
  std::int64_t bad_slot = -1;      ///< the first slot whose loss is not finite; −1: all are finite
  std::uint64_t program_hash = 0;  ///< of the actions that all ranks make together
  std::uint64_t replica_hash = 0;
  std::uint32_t has_hash = 0;
  std::uint32_t wants_to_stop = 0;
  std::uint64_t wants_to_save = 0;
  std::uint64_t overflow_stages = 0;  ///< bits of the stages whose values became infinite or NaN first
};
static_assert(sizeof(Tally) == 264);

/// The first slot with a loss that is not finite, of the first such rank.
struct BadLoss {
  int rank;  ///< the global rank
  std::int64_t slot;
  double loss;
};

/// The decision that follows from all tallies, the same on every rank.
struct Verdict {
  enum class Kind { kApply, kSkip } kind = Kind::kApply;
  double loss = 0;  ///< sum of all losses, divided by the sum of all weights
  double weight = 0;
  double samples = 0;
  double correct = 0;
  double counted = 0;
  double gradient_norm = 0;           ///< of the mean gradient; times the loss scale
  bool stop = false;                  ///< at least one rank wants to stop
  bool save = false;                  ///< at least one rank wants a snapshot
  std::uint64_t overflow_stages = 0;  ///< of all tallies
  std::optional<BadLoss> bad_loss;
};

/// All-gathers the tallies and decides.
///
/// Failure: throws; kCorrupt names the ranks whose parameters or programs differ from those of most ranks.
Verdict vote(Communicator& group, const Tally& mine);

/// The ranks whose hash differs from that of the majority, or from that of rank 0 if there is no majority.
std::vector<int> deviating_ranks(const std::vector<std::uint64_t>& hashes);

}  // namespace cohort::train
