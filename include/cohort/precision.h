#pragma once

#include <cohort/dtype.h>
#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The type in which forward and backward compute matrix products, convolutions and attention. f16 is not
/// among them: CPUs compute it slower than f32.
enum class ComputeType : std::uint8_t {
  kAuto,  ///< bf16 on a machine that computes it faster than f32, otherwise f32
  kF32,
  kBF16,  ///< by autocast: weights stay f32 and are converted once in each forward
};

inline constexpr ComputeType kAllComputeTypes[] = {ComputeType::kAuto, ComputeType::kF32, ComputeType::kBF16};

/// `auto`, `f32`, `bf16`, as in job files.
COHORT_EXPORT std::string_view name(ComputeType type);
/// The type with this name; empty for an unknown name.
COHORT_EXPORT std::optional<ComputeType> compute_type_named(std::string_view name);

/// Whether this machine has instructions for products of bf16 numbers: AVX512_BF16, or AMX besides.
COHORT_EXPORT bool has_fast_bf16();
/// kAuto becomes the type for this machine.
COHORT_EXPORT ComputeType resolved(ComputeType type);

/// How the factor of the loss is found, by which small gradients are kept from becoming 0.
enum class LossScaling : std::uint8_t {
  kNone,
  kStatic,   ///< a fixed factor
  kDynamic,  ///< a factor that grows until gradients overflow: such a step is skipped and the factor falls
};

/// The factor of the loss. Growth and backoff are those of torch.amp.GradScaler.
struct ScaleOptions {
  double init_scale = 65536;            ///< the factor at first; of kStatic, always
  double growth_factor = 2;             ///< after growth_interval steps in a row without an overflow
  double backoff_factor = 0.5;          ///< after an overflow
  std::int64_t growth_interval = 2000;  ///< steps
  /// The overflow in a row from which on the factor falls; 1: the first.
  int hysteresis = 1;

  bool operator==(const ScaleOptions&) const = default;
};

/// The types of numbers in a training. docs/precision.md explains them.
struct Precision {
  ComputeType compute = ComputeType::kF32;
  LossScaling loss_scaling = LossScaling::kNone;
  ScaleOptions loss_scale{};
  /// Training ends with an Error of code kDiverged where a dynamic factor would fall below this.
  double least_loss_scale = 1;
  /// With bf16, a stage of the model whose values become infinite or NaN computes in f32 for this many steps;
  /// the step itself is skipped. Not set: such a step is treated as with f32.
  std::optional<std::int64_t> fallback_steps{};

  bool operator==(const Precision&) const = default;
};

}  // namespace cohort
