#pragma once

#include <cohort/export.h>
#include <cohort/precision.h>
#include <cohort/state.h>

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>

namespace torch::optim {
class Optimizer;
}

namespace cohort {

class Communicator;
class Group;

struct GradScalerOptions {
  ScaleOptions scale{};
  bool enabled = true;  ///< if false, scale() returns the loss, and step() makes a step
};

/// Scales the loss in a training loop of your own, as torch.amp.GradScaler: the same factors and the same
/// skipped steps for the same overflows.
///
///     cohort::GradScaler scaler(context);
///     …
///     scaler.scale(loss).backward();
///     scaler.step(optimizer);  // skips the step if a gradient is infinite or NaN
///     scaler.update();
///
/// Call unscale_() before step() to clip or read gradients. With several ranks give it the group of your
/// DataParallel: an overflow on one rank skips the step on all of them.
///
/// Threads: one at a time. With a group, all ranks call unscale_() and step() together.
/// Lifetime: keeps what it needs of the group alive.
/// Failure: throws UsageError for calls in an order that has no meaning, such as a second step() before
/// update(), and for f16 gradients; Error if the group fails.
/// Cost: a pass over the gradients, and with a group one all-reduce of a number.
class COHORT_EXPORT GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options = {});
  explicit GradScaler(Group& group, const GradScalerOptions& options = {});
  explicit GradScaler(Communicator& group, const GradScalerOptions& options = {});
  ~GradScaler();
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;

  at::Tensor scale(const at::Tensor& loss) const;
  /// Divides the gradients of the optimizer's parameters by the scale.
  void unscale_(torch::optim::Optimizer& optimizer);
  /// unscale_() unless it was called, and then a step of the optimizer unless a gradient is infinite or NaN.
  /// Returns true if the step was made.
  bool step(torch::optim::Optimizer& optimizer);
  /// Ends the iteration: adapts the scale, or sets it to `new_scale`.
  void update(std::optional<double> new_scale = std::nullopt);

  double get_scale() const;
  bool is_enabled() const;
  std::int64_t num_skipped() const;  ///< steps that step() has not made
  /// Visits the scale and its counters: `grad_scaler/scale`, …
  void visit_state(const StateVisitor& visitor);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
