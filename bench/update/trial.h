#pragma once

#include "update/optimizer.h"

#include <ATen/ATen.h>
#include <vector>

namespace cohort::bench {

/// Work that is timed besides the update itself.
enum class Extra { kNone, kScaleClip };

/// One optimizer on one set of tensors, updated by our kernels or by libtorch's: both work on the same
/// memory, so that neither has the better pages.
class Trial {
 public:
  Trial(const OptimizerSettings& settings, std::int64_t count, Extra extra);

  void ours();
  /// libtorch's fused kernel, with its other calls in a row before and after it.
  void libtorchs();

 private:
  void fused();

  const OptimizerSettings settings_;
  const Extra extra_;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> parameters_, gradients_, first_, second_, counts_;
};

}  // namespace cohort::bench
