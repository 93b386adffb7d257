#pragma once

#include "update/optimizer.h"
#include <cohort/slice.h>

// Optimizers that need more of a tensor than the element that they update do it in two passes over its spans:
// the first advances moments and replaces gradients by directions, the second, apply(), follows these. In
// between, norms of the whole tensor are known, and some optimizers compute with the tensor as a whole:
// whole_tensor.h.

namespace cohort {

namespace update {

/// The part of a tensor that an optimizer needs to update an element.
enum class Needs {
  kElements,              ///< the element alone: a tensor may be divided between ranks anywhere
  kTensorNorms,           ///< norms of the whole tensor besides
  kWholeTensors,          ///< all elements
  kNormsAndWholeTensors,  ///< both
};

inline bool has_norms(Needs needs) {
  return needs == Needs::kTensorNorms || needs == Needs::kNormsAndWholeTensors;
}
inline bool is_whole(Needs needs) {
  return needs == Needs::kWholeTensors || needs == Needs::kNormsAndWholeTensors;
}

/// The needs of an optimizer for a tensor of this shape.
Needs needs_of(const OptimizerSettings& settings, const Shape& shape);

/// Whether the optimizer makes two passes, whatever the shape.
bool has_two_passes(const OptimizerSettings& settings);

}  // namespace update

/// The optimizer of a tensor of this shape: the same settings, or, for muon and less than two dimensions, the
/// adamw of its fallback settings, with a learning rate.
OptimizerSettings optimizer_for(const OptimizerSettings& settings, const Shape& shape);

/// The number of elements of a tensor of this shape.
std::size_t num_elements_of(const Shape& shape);

/// Sums of squares over a tensor, or a part of it.
struct TensorSums {
  ExactSum parameters{};  ///< before the update
  ExactSum directions{};

  void add(const TensorSums& other);
};

/// Advances moments and replaces UpdateSpans::directions, gradients so far, by directions. Adds squares to
/// the sums if there are any; their bits do not depend on how a tensor is cut into spans, at multiples of 16.
/// Parameters and masters stay as they are.
///
/// Cost: one pass over the spans; with sums, one more in the cache.
void first_pass(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
                TensorSums* sums);

/// UpdateStep::tensor_factor of the second pass, from the sums over the whole tensor, for a tensor of this
/// shape.
double tensor_factor(const OptimizerSettings& settings, const Shape& shape, const TensorSums& sums);

}  // namespace cohort
