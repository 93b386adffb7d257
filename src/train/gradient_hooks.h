#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace cohort::train {

/// Calls a function whenever backward has accumulated the gradient of a parameter.
///
/// The hooks belong to the tensors, not to their gradient accumulators: libtorch replaces an accumulator when
/// a tensor gets data of another type, as by Module::to().
///
/// Threads: `arrived` is called on the threads that call backward, one at a time.
/// Lifetime: `arrived` is not called after the destructor, even if a graph is still alive. A hook that a
/// parameter had before is called as well, and is there again afterwards.
/// Failure: an exception of `arrived` comes out of backward().
class GradientHooks {
 public:
  using Arrived = std::function<void(std::size_t parameter)>;

  GradientHooks(std::span<const at::Tensor> parameters, Arrived arrived);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  class Hook;
  struct Shared {
    std::mutex mutex;
    Arrived arrived;  // empty once the hooks are gone
  };

  std::shared_ptr<Shared> shared_;
  std::vector<at::Tensor> parameters_;
};

}  // namespace cohort::train
