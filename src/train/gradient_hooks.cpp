#include "train/gradient_hooks.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace cohort::train {

namespace autograd = torch::autograd;

struct GradientHooks::Accumulators {
  std::vector<c10::intrusive_ptr<autograd::Node>> nodes;
};

GradientHooks::GradientHooks(std::span<const at::Tensor> parameters, Arrived arrived)
    : shared_(std::make_shared<Shared>()), accumulators_(std::make_unique<Accumulators>()) {
  shared_->arrived = std::move(arrived);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    accumulators_->nodes.push_back(autograd::impl::grad_accumulator(parameters[p]));
    accumulators_->nodes.back()->add_post_hook(std::make_unique<autograd::utils::LambdaPostHook>(
        [shared = shared_, p](const autograd::variable_list& out, const autograd::variable_list&) {
          const std::lock_guard lock(shared->mutex);
          if (shared->arrived) shared->arrived(p);
          return out;
        }));
  }
}

GradientHooks::~GradientHooks() {
  const std::lock_guard lock(shared_->mutex);
  shared_->arrived = nullptr;
}

}  // namespace cohort::train
