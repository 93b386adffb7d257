#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort {

/// A module whose forward() takes one tensor and returns one.
template <class T>
concept MapsTensors = requires(T& module, const at::Tensor& input) {
  { module.forward(input) } -> std::convertible_to<at::Tensor>;
};

/// A holder of torch, such as `torch::nn::Linear`.
template <class T>
concept HoldsModule = requires(const T& holder) {
  holder.ptr()->parameters();
};

/// One part of a model: a module that maps a tensor to a tensor. Made from a holder of
/// torch or from a shared pointer to a module of your own. Copies share the module.
class Stage {
 public:
  template <MapsTensors Module>
  Stage(std::shared_ptr<Module> module)
      : module_(module),
        forward_([module](const at::Tensor& input) -> at::Tensor { return module->forward(input); }) {}
  template <HoldsModule Holder>
  Stage(const Holder& holder) : Stage(holder.ptr()) {}

  const std::shared_ptr<torch::nn::Module>& module() const { return module_; }
  at::Tensor forward(const at::Tensor& input) const { return forward_(input); }

 private:
  std::shared_ptr<torch::nn::Module> module_;
  std::function<at::Tensor(const at::Tensor&)> forward_;
};

/// A model whose parts run one after the other: the output of a stage is the input of the next.
///
///     cohort::Stages net({torch::nn::Linear(784, 128), torch::nn::Tanh(), torch::nn::Linear(128, 10)});
///
/// A stage must not change its input in place. Copies share the modules.
///
/// Failure: the constructor throws UsageError for an empty list and for a null pointer.
class COHORT_EXPORT Stages {
 public:
  Stages(std::vector<Stage> stages);

  std::size_t size() const { return stages_.size(); }
  const Stage& operator[](std::size_t stage) const { return stages_[stage]; }
  /// The output of the last stage.
  at::Tensor forward(at::Tensor input) const;
  /// The stages as one module, in which they are named by number: `0.weight`, `2.bias`.
  const std::shared_ptr<torch::nn::Module>& module() const { return module_; }

 private:
  std::vector<Stage> stages_;
  std::shared_ptr<torch::nn::Module> module_;
};

}  // namespace cohort
