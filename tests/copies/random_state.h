#pragma once

#include "layout/random_slices.h"

#include <cohort/state.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cohort::test {

/// A state at random, the same for the same seed: tensors that all ranks have alike, tensors of which each
/// rank has a slice, slices that some ranks have alike, and tensors whose copies are merged.
struct RandomState {
  enum class Sharing { kAlike, kSliced, kSomeAlike, kMerged };
  struct Tensor {
    std::string name{};
    Shape shape{};
    Sharing sharing{};
  };

  RandomState(std::uint64_t seed, std::size_t num_tensors) {
    Dice dice(seed);
    for (std::size_t i = 0; i < num_tensors; ++i) {
      tensors.push_back({"tensor" + std::to_string(i), dice.shape(), static_cast<Sharing>(dice.below(4))});
    }
  }

  /// The pieces of each rank, without memory, in the layout `seed`.
  std::vector<std::vector<Piece>> layout(std::size_t world, std::uint64_t seed) const {
    Dice dice(seed);
    std::vector<std::vector<Piece>> by_rank(world);
    for (const Tensor& tensor : tensors) {
      const std::size_t copies = tensor.sharing == Sharing::kSomeAlike ? 1 + dice.below(world) : 1;
      const auto slices = dice.shared_by((world + copies - 1) / copies, tensor.shape);
      const bool is_sliced = tensor.sharing == Sharing::kSliced || tensor.sharing == Sharing::kSomeAlike;
      for (std::size_t rank = 0; rank < world; ++rank) {
        by_rank[rank].push_back({.name = tensor.name,
                                 .dtype = DType::kF64,
                                 .shape = tensor.shape,
                                 .mine = is_sliced ? slices[rank / copies] : whole(tensor.shape),
                                 .merge = tensor.sharing == Sharing::kMerged ? Merge::kMax : Merge::kSame});
      }
    }
    return by_rank;
  }

  std::vector<Tensor> tensors{};
};

}  // namespace cohort::test
