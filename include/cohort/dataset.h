#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cohort {

/// One example: what a model is given, and what it should answer.
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
  std::vector<std::int64_t>
      samples;  ///< their numbers in the data set; how many they are is the batch's weight
};

/// Samples by number: derive from it to train on data of your own.
///
///     struct Squares : cohort::Dataset {
///       std::int64_t size() const override { return 100; }
///       cohort::Sample at(std::int64_t i) const override {
///         return {at::full({1}, double(i)).to(at::kFloat), at::full({1}, double(i * i)).to(at::kFloat)};
///       }
///     };
///
/// Threads: at() and batch() are called from several threads at once.
/// Failure: they may throw; whoever asked for the samples gets it, with their numbers.
class COHORT_EXPORT Dataset {
 public:
  virtual ~Dataset();

  virtual std::int64_t size() const = 0;
  /// The same sample whenever it is asked for; 0 <= index < size().
  virtual Sample at(std::int64_t index) const = 0;
  /// These samples as one batch, in this order. Unless overridden, at() of each, copied side by side.
  virtual Batch batch(std::span<const std::int64_t> indices) const;
};

}  // namespace cohort
