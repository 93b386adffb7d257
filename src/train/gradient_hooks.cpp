#include "train/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace cohort::train {

namespace autograd = torch::autograd;

// A tensor has one slot for a hook of this kind, so each hook calls the one that it has replaced.
class GradientHooks::Hook final : public autograd::PostAccumulateGradHook {
 public:
  using Slot = std::unique_ptr<autograd::PostAccumulateGradHook>;

  Hook(std::shared_ptr<Shared> shared, std::size_t parameter, Slot before)
      : shared_(std::move(shared)), parameter_(parameter), before_(std::move(before)) {}

  void operator()(const autograd::Variable& tensor) override {
    if (before_) (*before_)(tensor);
    const std::lock_guard lock(shared_->mutex);
    if (shared_->arrived) shared_->arrived(parameter_);
  }

  /// Takes the hook of `shared` out of a slot, unless another hook was put over it: then it stays, and does
  /// nothing.
  static void remove(const at::Tensor& tensor, const std::shared_ptr<Shared>& shared) {
    Slot& slot = autograd::impl::post_acc_grad_hooks(tensor);
    auto* own = dynamic_cast<Hook*>(slot.get());
    if (own == nullptr || own->shared_ != shared) return;
    Slot before = std::move(own->before_);
    slot = std::move(before);
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::size_t parameter_;
  Slot before_;
};

GradientHooks::GradientHooks(std::span<const at::Tensor> parameters, Arrived arrived)
    : shared_(std::make_shared<Shared>()), parameters_(parameters.begin(), parameters.end()) {
  shared_->arrived = std::move(arrived);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    autograd::impl::materialize_autograd_meta(parameters_[p]);
    Hook::Slot before = std::move(autograd::impl::post_acc_grad_hooks(parameters_[p]));
    autograd::impl::set_post_acc_grad_hooks(parameters_[p],
                                            std::make_unique<Hook>(shared_, p, std::move(before)));
  }
}

GradientHooks::~GradientHooks() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->arrived = nullptr;
  }
  for (const at::Tensor& parameter : parameters_) Hook::remove(parameter, shared_);
}

}  // namespace cohort::train
