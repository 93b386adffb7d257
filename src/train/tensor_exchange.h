#pragma once

#include "comm/group/communicator.h"
#include "layout/tensor_owners.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::train {

/// Moves tensors between the ranks that have slices of them and the ranks that own them, so that each owner
/// has its tensors as a whole for a while.
///
/// Threads: one at a time.
/// Failure: throws what the group reports.
/// Cost: each rank sends its slices once in each direction, w times fewer bytes than a reduce-scatter of the
/// gradients over w ranks; memory for these and for the tensors of the owner.
class TensorExchange {
 public:
  /// `owners`: for each tensor, the number of the slice that its owner updates.
  TensorExchange(std::vector<int> owners, int slice, int world);

  /// The buckets have this layout.
  void fit_to(const BucketLayout& layout);
  bool owns(std::size_t tensor) const { return owners_[tensor] == slice_; }

  /// Gathers those tensors whose flag is not 0, the same on all ranks, from `slices`: this rank's slice of
  /// each bucket. Returns the tensors of this rank by number; empty: of another rank, or not gathered. All
  /// ranks call it together.
  std::vector<std::vector<float>> gather(Communicator& group, std::span<float* const> slices,
                                         std::span<const std::uint8_t> flags);
  /// Writes the tensors back to the slices of all ranks, with the flags of gather().
  void scatter(Communicator& group, std::span<const std::vector<float>> tensors,
               std::span<float* const> slices, std::span<const std::uint8_t> flags);

 private:
  /// The numbers of one direction, in the order of ranks.
  struct Parcel {
    std::vector<float> numbers{};
    std::vector<std::size_t> counts{};
  };

  void learn_slices(Communicator& group);
  std::vector<std::size_t> counts_to_owners(std::span<const std::uint8_t> flags) const;
  std::vector<std::size_t> counts_of_slices(std::span<const std::uint8_t> flags) const;
  static void run(Communicator& group, const Parcel& from, Parcel& to);

  const std::vector<int> owners_;
  const int slice_;
  const int world_;
  std::vector<int> slice_of_rank_;                // known after the first call
  std::vector<TensorRun> own_runs_;               // of this rank's slices
  std::vector<std::vector<TensorRun>> incoming_;  // per slice: its runs of tensors that this rank owns
};

}  // namespace cohort::train
