#include <cohort/grad_scaler.h>

#include "base/result.h"
#include "comm/group/communicator.h"
#include "layout/slice.h"
#include "update/loss_scale.h"
#include <cohort/error.h>
#include <cohort/group.h>

#include <ATen/ATen.h>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <torch/optim/optimizer.h>
#include <vector>

namespace cohort {
namespace {

enum class ScalerStage { kReady, kUnscaled, kStepped };

/// An optimizer between two calls of update().
struct ScaledOptimizer {
  ScalerStage stage = ScalerStage::kReady;
  bool overflow = false;
};

[[noreturn]] void refuse_order(const char* call, const char* reason) {
  throw UsageError(UsageError(fmt::format("GradScaler::{} was called {}", call, reason))
                       .with_remedy("Call scale() and backward(), then unscale_() if gradients are clipped, "
                                    "then step(), then update(): each once in an iteration."));
}

// Scales are floats: a number beyond them would be infinite or 0.
void check_first_scale(double value) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (value >= kLeast && value <= kLargest) return;
  throw UsageError(UsageError(fmt::format("ScaleOptions::init_scale is {}", value))
                       .with_remedy(fmt::format("Give a number from {} to {}.", kLeast, kLargest)));
}

void check_scale(const char* name, double value, double least, bool may_equal) {
  if (std::isfinite(value) && (value > least || (may_equal && value == least))) return;
  throw UsageError(UsageError(fmt::format("ScaleOptions::{} is {}", name, value))
                       .with_remedy(fmt::format("Give a finite number {} {}.",
                                                may_equal ? "of at least" : "above", least)));
}

// The elements of all gradients of the optimizer, by type.
std::map<at::ScalarType, std::vector<at::Tensor>> gradients_of(torch::optim::Optimizer& optimizer) {
  std::map<at::ScalarType, std::vector<at::Tensor>> by_type;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      const at::Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.scalar_type() == at::kHalf) {
        throw UsageError(
            UsageError("a gradient is f16, whose range is too small for scaled gradients")
                .with_remedy("Keep parameters in f32, and compute in bf16 by cohort::autocast()."));
      }
      by_type[gradient.scalar_type()].push_back(gradient.is_sparse() ? gradient._values() : gradient);
    }
  }
  return by_type;
}

template <class Number>
Piece scaler_field(const char* name, Number& number) {
  return {.name = name,
          .dtype = dtype_of<Number>(),
          .shape = {},
          .mine = whole({}),
          .bytes = std::as_writable_bytes(std::span(&number, 1))};
}

}  // namespace

struct GradScaler::Parts {
  std::shared_ptr<void> keeps{};
  Communicator* group = nullptr;  // null: one rank
  GradScalerOptions options{};
  ScaleState state{};
  std::map<torch::optim::Optimizer*, ScaledOptimizer> optimizers{};  // used since the last update()
  std::int64_t num_skipped = 0;

  bool agreed(bool overflow) const;
};

bool GradScaler::Parts::agreed(bool overflow) const {
  if (group == nullptr || group->size() == 1) return overflow;
  std::vector<std::uint8_t> any = {static_cast<std::uint8_t>(overflow ? 1 : 0)};
  value_or_throw(
      group->run(all_reduce(std::span(any), ReduceOp::kMax)).within("a GradScaler could not agree"));
  return any.front() != 0;
}

GradScaler::GradScaler(const GradScalerOptions& options) : parts_(new Parts{.options = options}) {
  const ScaleOptions& scale = options.scale;
  check_first_scale(scale.init_scale);
  check_scale("growth_factor", scale.growth_factor, 1, false);
  check_scale("backoff_factor", scale.backoff_factor, 0, false);
  check_scale("growth_interval", static_cast<double>(scale.growth_interval), 1, true);
  check_scale("hysteresis", scale.hysteresis, 1, true);
  if (scale.backoff_factor >= 1) {
    throw UsageError(UsageError(fmt::format("ScaleOptions::backoff_factor is {}", scale.backoff_factor))
                         .with_remedy("Give a number below 1: the scale must fall after an overflow."));
  }
  parts_->state = first_scale(scale);
}

GradScaler::GradScaler(Communicator& group, const GradScalerOptions& options) : GradScaler(options) {
  parts_->group = &group;
}

GradScaler::GradScaler(Group& group, const GradScalerOptions& options)
    : GradScaler(group.communicator(), options) {
  parts_->keeps = group.hold();
}

GradScaler::~GradScaler() = default;

at::Tensor GradScaler::scale(const at::Tensor& loss) const {
  return is_enabled() ? loss * get_scale() : loss;
}

void GradScaler::unscale_(torch::optim::Optimizer& optimizer) {
  if (!is_enabled()) return;
  ScaledOptimizer& here = parts_->optimizers[&optimizer];
  if (here.stage == ScalerStage::kUnscaled) refuse_order("unscale_", "twice before update()");
  if (here.stage == ScalerStage::kStepped) refuse_order("unscale_", "after step()");
  const at::NoGradGuard no_grad;
  const at::Tensor found = at::zeros({});
  const at::Tensor inverse = at::full({}, static_cast<float>(1 / parts_->state.scale));
  for (auto& [type, gradients] : gradients_of(optimizer)) {
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, const_cast<at::Tensor&>(found), inverse);
  }
  here.overflow = parts_->agreed(found.item<float>() != 0);
  here.stage = ScalerStage::kUnscaled;
}

bool GradScaler::step(torch::optim::Optimizer& optimizer) {
  if (!is_enabled()) {
    optimizer.step();
    return true;
  }
  if (parts_->optimizers[&optimizer].stage == ScalerStage::kStepped) {
    refuse_order("step", "twice before update()");
  }
  if (parts_->optimizers[&optimizer].stage == ScalerStage::kReady) unscale_(optimizer);
  ScaledOptimizer& here = parts_->optimizers[&optimizer];
  here.stage = ScalerStage::kStepped;
  if (here.overflow) {
    ++parts_->num_skipped;
    return false;
  }
  optimizer.step();
  return true;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!is_enabled()) return;
  if (new_scale) {
    check_first_scale(*new_scale);
    parts_->state.scale = static_cast<float>(*new_scale);
  } else {
    bool overflow = false;
    for (const auto& [optimizer, used] : parts_->optimizers) overflow = overflow || used.overflow;
    if (parts_->optimizers.empty()) refuse_order("update", "without a step() before it");
    parts_->state = next_scale(parts_->options.scale, parts_->state, overflow);
  }
  parts_->optimizers.clear();
}

double GradScaler::get_scale() const {
  return is_enabled() ? parts_->state.scale : 1;
}

bool GradScaler::is_enabled() const {
  return parts_->options.enabled;
}

std::int64_t GradScaler::num_skipped() const {
  return parts_->num_skipped;
}

void GradScaler::visit_state(const StateVisitor& visitor) {
  ScaleState& state = parts_->state;
  visitor(scaler_field("grad_scaler/scale", state.scale));
  visitor(scaler_field("grad_scaler/growth_tracker", state.growth_tracker));
  visitor(scaler_field("grad_scaler/overflows_in_row", state.overflows_in_row));
  visitor(scaler_field("grad_scaler/skipped", parts_->num_skipped));
}

}  // namespace cohort
