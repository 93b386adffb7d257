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

Trial::Trial(const Rule& rule, std::int64_t count, Extra extra)
    : rule_(rule),
      extra_(extra),
      parameters_{at::randn({count})},
      gradients_{at::randn({count})},
      first_(moments(num_moments(rule.kind) >= 1, count)),
      second_(moments(num_moments(rule.kind) >= 2, count)),
      counts_{at::zeros({1})} {}

void Trial::ours() {
  UpdateStep step{.count = ++steps_, .learning_rate = kLearningRate};
  if (extra_ == Extra::kScaleClipZero) {
    step.gradient_scale = kScale;
    step.clip_value = kLimit;
    step.gradient = Gradient::kZero;
  }
  apply(rule_, step,
        {.parameters = data_of(parameters_),
         .gradients = data_of(gradients_),
         .first = data_of(first_),
         .second = data_of(second_),
         .count = static_cast<std::size_t>(parameters_[0].numel())});
}

void Trial::libtorchs() {
  ++steps_;
  if (extra_ == Extra::kScaleClipZero) {
    gradients_[0].mul_(kScale);
    gradients_[0].clamp_(-kLimit, kLimit);
  }
  fused();
  if (extra_ == Extra::kScaleClipZero) gradients_[0].zero_();
}

void Trial::fused() {
  counts_[0].fill_(steps_);
  const double decay = rule_.weight_decay;
  switch (rule_.kind) {
    case RuleKind::kAdam:
      at::_fused_adam_(parameters_, gradients_, first_, second_, {}, counts_, kLearningRate, rule_.beta1,
                       rule_.beta2, decay, rule_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
      return;
    case RuleKind::kAdamW:
      at::_fused_adamw_(parameters_, gradients_, first_, second_, {}, counts_, kLearningRate, rule_.beta1,
                        rule_.beta2, decay, rule_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
      return;
    case RuleKind::kSgd:
    case RuleKind::kMomentum:
    case RuleKind::kNesterov:
      at::_fused_sgd_(parameters_, gradients_, first_, decay, first_.empty() ? 0 : rule_.momentum,
                      kLearningRate,
                      /*dampening=*/0, rule_.kind == RuleKind::kNesterov, /*maximize=*/false,
                      /*is_first_step=*/false);
  }
}

}  // namespace cohort::bench
