#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cohort {

/// One training example: the input of the model and the output it should give.
struct Sample {
  at::Tensor input;
  at::Tensor target;
};

/// Several samples, stacked along a new first dim.
///
/// Targets are i64 [n] for classes, i64 [n, context] for tokens, f32 [n, outputs] for numbers.
struct Batch {
  at::Tensor input;
  at::Tensor target;
  /// Indices of the samples in the data set. Their number is the weight of the batch in a mean over batches.
  std::vector<std::int64_t> samples;
};

/// A map-style data set, as torch.utils.data.Dataset: a size, and a sample for each index. Derive from it to
/// train on data of your own.
///
///     struct Squares : cohort::Dataset {
///       std::int64_t size() const override { return 100; }
///       cohort::Sample at(std::int64_t i) const override {
///         return {at::full({1}, double(i)).to(at::kFloat), at::full({1}, double(i * i)).to(at::kFloat)};
///       }
///     };
///
/// Threads: at() and batch() are called from several threads at once.
/// Failure: at() and batch() may throw. The reader of the batch gets the exception, with the sample indices.
class COHORT_EXPORT Dataset {
 public:
  virtual ~Dataset();

  virtual std::int64_t size() const = 0;
  /// The sample at `index`, 0 <= index < size(). Every call with the same index must return the same sample.
  virtual Sample at(std::int64_t index) const = 0;
  /// The samples at these indices, stacked in this order. The default calls at() for each index and copies.
  virtual Batch batch(std::span<const std::int64_t> indices) const;
};

}  // namespace cohort
