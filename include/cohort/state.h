#pragma once

#include <cohort/dtype.h>
#include <cohort/export.h>
#include <cohort/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace cohort {

/// The rule by which copies of an element that several ranks hold become one.
enum class Merge : std::uint8_t {
  kSame,  ///< all ranks hold the same bytes: any copy is taken, and copies that differ are an error
  kMean,  ///< the mean of all copies; floating point only
  kSum,   ///< the sum of all copies; floating point only
  kMax,   ///< the largest copy
};

/// The ranks that see the memory of a piece.
enum class PieceMemory : std::uint8_t {
  kOwn,     ///< this rank alone
  kOfHost,  ///< all ranks of the host that have a piece of this name: a change on one is seen by all
};

/// A part of a tensor that training changes, as one rank holds it: what the tensor is, which elements of it
/// these are, and their memory. Pieces of one tensor have the same name, on all ranks; a rank may hold
/// several pieces of a tensor.
///
/// Lifetime: owns nothing.
struct Piece {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};  ///< of the whole tensor
  Slice mine{};
  Merge merge = Merge::kSame;
  std::span<std::byte> bytes{};  ///< the elements of `mine`, in its order
  PieceMemory memory = PieceMemory::kOwn;
  /// The order of dimensions in memory, the outermost first, for a tensor with another one than that of its
  /// shape: {0, 2, 3, 1} for channels last. The boxes of `mine` have their dimensions in this order then.
  std::vector<std::size_t> order{};
};

/// Gets the pieces of a state one by one. What it writes to the bytes of a piece becomes the state.
using StateVisitor = std::function<void(const Piece& piece)>;

/// Visits the parameters of a module under their names, then its buffers. A tensor with several names is
/// visited once, under the first.
///
/// Lifetime: pieces are valid until the module's tensors are replaced.
/// Failure: throws UsageError, naming the tensor, for one that is not in CPU memory or has gaps.
COHORT_EXPORT void visit_state(torch::nn::Module& module, const StateVisitor& visitor);

/// Visits the module and everything that the optimizer keeps for its parameters, such as `weight/exp_avg` and
/// the number of updates, `weight/step`, under the names of torch.optim. Learning rates and other settings
/// are not visited. For torch::optim::SGD, Adam, AdamW, RMSprop and Adagrad.
///
/// An optimizer of torch makes its state in the first step. Before that, visiting makes it, filled with
/// zeros, so that pieces can be written to an optimizer that is new.
///
/// Failure: also throws UsageError for another optimizer, for a parameter that the module does not have, and
/// for SGD with dampening before its first step, which does not begin with zeros.
COHORT_EXPORT void visit_state(torch::nn::Module& module, torch::optim::Optimizer& optimizer,
                               const StateVisitor& visitor);

}  // namespace cohort
