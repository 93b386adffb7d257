#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace cohort::train {

/// Says when backward has come to the gradient of a parameter.
///
/// Threads: `arrived` is called on the threads that call backward, one at a time.
/// Lifetime: nothing is called any more once this is gone, whatever graph is still alive.
/// Failure: what `arrived` throws comes out of backward().
class GradientHooks {
 public:
  using Arrived = std::function<void(std::size_t parameter)>;

  GradientHooks(std::span<const at::Tensor> parameters, Arrived arrived);
  ~GradientHooks();
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

 private:
  struct Shared {
    std::mutex mutex;
    Arrived arrived;  // empty once the hooks are gone
  };
  struct Accumulators;

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Accumulators> accumulators_;  // a tensor holds its own only weakly
};

}  // namespace cohort::train
