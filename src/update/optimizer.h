#pragma once

#include "base/exact_sum.h"
#include "base/parallel.h"
#include "base/result.h"
#include <cohort/numbers.h>
#include <cohort/optimizer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// The settings of one update.
struct UpdateStep {
  std::int64_t count = 1;     ///< number of this update of the parameters: 1, 2, …
  double learning_rate = 0;   ///< after warm-up and learning-rate schedule
  double gradient_scale = 1;  ///< factor of the gradients, applied first
  double clip_value = 0;      ///< largest absolute value of a scaled gradient; 0: no limit
  double tensor_factor = 1;   ///< of the tensor, in the second of two passes: two_passes.h
};

/// The learning rate of the settings, or the default of their kind.
double learning_rate_of(const OptimizerSettings& settings);

/// The largest number of moments that an optimizer keeps.
inline constexpr std::size_t kMostMoments = 3;

/// The names of the moments that an optimizer keeps, as torch.optim calls them. Names of those that it does
/// not keep under its settings are empty.
using MomentNames = std::array<std::string_view, kMostMoments>;
MomentNames moment_names(const OptimizerSettings& settings);
/// The number that a moment is filled with before the first update.
float first_moment_value(const OptimizerSettings& settings);

/// Spans that do not overlap, each of as many elements as there are parameters. Moments that the optimizer
/// does not keep are null.
struct UpdateSpans {
  Numbers parameters{};
  ConstNumbers gradients{};
  std::array<float*, kMostMoments> moments{};
  /// The f32 copy of bf16 parameters, which is updated; the parameters become its rounded values. Null for
  /// f32 parameters.
  float* master = nullptr;
  /// In the first of two passes, gradients that become directions, which are the gradients of the second.
  float* directions = nullptr;

  UpdateSpans subspan(std::size_t from, std::size_t length) const;
};

/// The types of numbers in an update.
struct UpdateTypes {
  DType parameters = DType::kF32;
  DType gradients = DType::kF32;
};

/// The names of all optimizers, in the order of OptimizerKind.
std::vector<std::string> optimizer_names();
std::optional<OptimizerKind> optimizer_named(std::string_view name);

/// Whether this optimizer can update numbers of these types.
///
/// Failure: kUsage.
Status check_update(const OptimizerSettings& settings, const UpdateTypes& types);

/// Updates the parameters once, by the formulas in cohort/optimizer.h; for optimizers that make two passes,
/// this is the second: two_passes.h. Elements are independent and computed
/// without fused multiply-add, so the bits are the same on every machine and for every division into spans.
///
/// Gradients are f32; parameters are f32, or bf16 with a master.
///
/// Cost: one pass over the spans, at memory speed, with the widest instructions of this machine.
void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans);
/// apply() on several threads.
void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
           const Parallel& parallel);

/// Adds the squares of the values. Those of 16 values at a time, counted from the first, are added in double,
/// and their sums exactly: the result is the same however values are cut into spans, at multiples of 16, and
/// on every machine.
///
/// Cost: one pass at memory speed, and a few nanoseconds for 16 values.
void add_squares(std::span<const float> values, ExactSum& sum);

}  // namespace cohort
