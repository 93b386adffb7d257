#include "trial.h"

namespace cohort::bench {
namespace {

constexpr double kLearningRate = 1e-3;
constexpr double kScale = 0.5;
constexpr double kLimit = 1.0;

std::vector<at::Tensor> moments(bool are_needed, std::int64_t count) {
  if (!are_needed) return {};
  return {at::zeros({count})};
}

float* data_of(const std::vector<at::Tensor>& tensors) {
  return tensors.empty() ? nullptr : tensors[0].data_ptr<float>();
}

}  // namespace

Trial::Trial(const OptimizerSettings& settings, std::int64_t count, Extra extra)
    : settings_(with_defaults(settings)),
      extra_(extra),
      parameters_{at::randn({count})},
      gradients_{at::randn({count})},
      first_(moments(num_moments(settings) >= 1, count)),
      second_(moments(num_moments(settings) >= 2, count)),
      counts_{at::zeros({1})} {}

void Trial::ours() {
  UpdateStep step{.count = ++steps_, .learning_rate = kLearningRate};
  if (extra_ == Extra::kScaleClip) {
    step.gradient_scale = kScale;
    step.clip_value = kLimit;
  }
  const auto count = static_cast<std::size_t>(parameters_[0].numel());
  apply(settings_, step,
        {.parameters = {parameters_[0].data_ptr(), count, DType::kF32},
         .gradients = {gradients_[0].const_data_ptr(), count, DType::kF32},
         .moments = {data_of(first_), data_of(second_)}});
}

void Trial::libtorchs() {
  ++steps_;
  if (extra_ == Extra::kScaleClip) {
    gradients_[0].mul_(kScale);
    gradients_[0].clamp_(-kLimit, kLimit);
  }
  fused();
}

void Trial::fused() {
  counts_[0].fill_(steps_);
  const double decay = settings_.weight_decay;
  if (settings_.kind == OptimizerKind::kAdam) {
    at::_fused_adam_(parameters_, gradients_, first_, second_, {}, counts_, kLearningRate,
                     settings_.betas->first, settings_.betas->second, decay, *settings_.eps,
                     /*amsgrad=*/false,
                     /*maximize=*/false);
  } else if (settings_.kind == OptimizerKind::kAdamW) {
    at::_fused_adamw_(parameters_, gradients_, first_, second_, {}, counts_, kLearningRate,
                      settings_.betas->first, settings_.betas->second, decay, *settings_.eps,
                      /*amsgrad=*/false, /*maximize=*/false);
  } else {
    at::_fused_sgd_(parameters_, gradients_, first_, decay, *settings_.momentum, kLearningRate,
                    /*dampening=*/0, *settings_.nesterov, /*maximize=*/false,
                    /*is_first_step=*/false);
  }
}

}  // namespace cohort::bench
