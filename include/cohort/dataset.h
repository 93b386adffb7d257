#pragma once

#include <cohort/export.h>

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort {

struct Sample {
  at::Tensor input;
  at::Tensor target;
};

/// Samples stacked along a new first dimension.
struct Batch {
  at::Tensor input;
  at::Tensor target;
  std::vector<std::int64_t> samples;  ///< their numbers in the data set; as many as the batch weighs
};

/// Samples by number.
///
/// Threads: at() and batch() are called from several threads at once.
class COHORT_EXPORT Dataset {
 public:
  virtual ~Dataset();
  virtual std::int64_t size() const = 0;
  virtual Sample at(std::int64_t index) const = 0;
  /// Stacks at() of every index unless a data set knows better.
  virtual Batch batch(std::span<const std::int64_t> indices) const;
};

}  // namespace cohort
