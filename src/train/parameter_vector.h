#pragma once

#include "solve/penalties.h"
#include "train/module_tensors.h"
#include <cohort/numbers.h>
#include <cohort/state.h>

#include <string>
#include <vector>

namespace cohort::train {

/// A penalty on the elements of one parameter: l1 |p|₁ + ½ l2 |p|².
struct ParameterPenalty {
  double l1 = 0;
  double l2 = 0;
};

/// The parameters of a module as one vector, cut into a slice for each rank, and a sum of gradients in f64.
/// Every parameter begins at a multiple of 16 elements; padding is 0.
///
/// Threads: one at a time.
/// Lifetime: keeps the tensors alive.
/// Failure: the constructor throws UsageError unless all parameters are f32, or all f64, without gaps.
/// Cost: two vectors in full, one of them in f64.
class ParameterVector {
 public:
  ParameterVector(std::vector<NamedTensor> parameters, int rank, int world);

  DType dtype() const { return dtype_; }
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

  /// The vector in full, and the slice of this rank.
  Numbers all() const;
  Numbers own() const;
  /// The vector from the parameters, or from the sum of gradients; the parameters from the vector.
  void read();
  void read_sum();
  void write() const;
  /// The vector as one tensor for each parameter, which share its memory.
  const std::vector<at::Tensor>& views() const { return views_; }

  void clear_sum();
  /// Adds to the sum the gradient of a parameter, if it is defined.
  void add(std::size_t parameter, const at::Tensor& gradient);

  /// The penalties of the parameters, in their order, for the slice of this rank.
  std::vector<solve::Penalty> penalties(const std::vector<ParameterPenalty>& by_parameter) const;
  /// Visits a slice of another vector as slices of the tensors `weight/name`.
  void visit(const std::string& name, Numbers slice, const StateVisitor& visitor) const;
  std::size_t size_bytes() const;

 private:
  /// The part of a parameter in the slice of this rank.
  struct Part {
    std::size_t from = 0;   ///< of the parameter
    std::size_t first = 0;  ///< of the slice
    std::size_t count = 0;
  };
  Part own_part(std::size_t parameter) const;
  std::vector<at::Tensor> views_of(const at::Tensor& flat) const;

  const std::vector<NamedTensor> parameters_;
  const std::vector<at::Tensor> tensors_;
  DType dtype_ = DType::kF32;
  std::vector<std::size_t> firsts_;  // of the parameters
  std::size_t slice_first_ = 0;
  std::size_t slice_count_ = 0;
  at::Tensor vector_;
  at::Tensor sum_;
  std::vector<at::Tensor> views_;  // of vector_, as the parameters lie in memory
  std::vector<at::Tensor> sum_views_;
};

}  // namespace cohort::train
