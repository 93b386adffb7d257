#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cohort {

/// Tensors by name, in a fixed order.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// One training example: the input of the model, the output it should give, and any other tensors by name,
/// such as a mask, a weight or a length.
///
///     return {tokens, next_tokens, {{"mask", mask}}};
struct COHORT_EXPORT Sample {
  at::Tensor input;
  at::Tensor target;
  NamedTensors others{};

  /// The tensor of this name: `input`, `target` or one of the others.
  ///
  /// Failure: throws UsageError that lists the names there are.
  at::Tensor operator[](std::string_view name) const;
  /// All tensors: input, target, then the others.
  NamedTensors tensors() const;
};

/// Several samples, stacked: each tensor has the samples along a new first dim.
///
/// Targets are i64 [n] for classes, i64 [n, context] for tokens, f32 [n, outputs] for numbers.
struct COHORT_EXPORT Batch {
  at::Tensor input;
  at::Tensor target;
  std::vector<std::int64_t> samples;  ///< indices of the samples in the data set
  NamedTensors others{};              ///< as those of the samples

  /// As those of Sample.
  at::Tensor operator[](std::string_view name) const;
  NamedTensors tensors() const;
  /// The sample in row `row` of the tensors; it shares their memory.
  Sample at(std::int64_t row) const;
};

/// The samples, which have these indices in their data set, as one batch.
///
/// Failure: throws UsageError, naming a sample whose tensors have other names, shapes or types than those of
/// the first one.
/// Cost: a copy, on the calling thread alone.
COHORT_EXPORT Batch stacked(std::span<const Sample> samples, std::span<const std::int64_t> indices);

/// The facts that random changes of a sample depend on, beside its index. The same draw gives the same
/// samples on every rank.
struct Draw {
  std::uint64_t seed = 0;   ///< TrainerOptions::seed in training; 0 in evaluation
  std::uint64_t epoch = 0;  ///< counts from 1 in training; 0 in evaluation
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
/// Samples that are to differ from epoch to epoch are made by cohort::augment() of <cohort/views.h>, or by a
/// data set that overrides drawn().
///
/// Threads: at(), drawn() and batch() are called from several threads at once.
/// Failure: at(), drawn() and batch() may throw. The reader of the batch gets the exception, with the sample
/// indices.
class COHORT_EXPORT Dataset {
 public:
  virtual ~Dataset();

  virtual std::int64_t size() const = 0;
  /// The sample at `index`, 0 <= index < size(). Every call with the same index must return the same sample.
  virtual Sample at(std::int64_t index) const = 0;
  /// The sample as it is in this draw: a function of (seed, epoch, index) alone. The default is at(index).
  virtual Sample drawn(std::int64_t index, const Draw& draw) const;
  /// The samples at these indices in this draw, stacked in this order. The default calls drawn() for each
  /// index.
  virtual Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const;
  /// The same in the draw of evaluations.
  Batch batch(std::span<const std::int64_t> indices) const { return batch(indices, Draw{}); }
};

}  // namespace cohort
