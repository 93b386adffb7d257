#pragma once

#include <cohort/export.h>
#include <cohort/precision.h>

namespace cohort {

/// While it lives, operations of this thread compute as autocast of torch decides: products and convolutions
/// in bf16, losses and other sensitive operations in f32. With ComputeType::kF32 they compute in f32, also
/// inside of another Autocast. Create it for the forward; backward then uses the types of the forward.
///
///     {
///       const cohort::Autocast mixed = cohort::autocast();
///       loss = torch::nn::functional::cross_entropy(net->forward(input), target);
///     }
///     loss.backward();  // gradients of f32 parameters are f32
///
/// torch keeps the converted weights of a forward, for layers that are used several times. Both ends of an
/// Autocast make it forget them, so that an update of the weights is always seen.
///
/// Threads: affects the thread that made it, which must destroy it. torch has one list of converted weights
/// in a process.
/// Cost: each f32 weight is converted once in its life.
class COHORT_EXPORT Autocast {
 public:
  explicit Autocast(ComputeType compute = ComputeType::kBF16);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool was_enabled_;
  int type_before_;
};

/// Autocast as a function, like torch.autocast.
[[nodiscard]] inline Autocast autocast(ComputeType compute = ComputeType::kBF16) {
  return Autocast(compute);
}

}  // namespace cohort
