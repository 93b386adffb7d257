#include "train/divergence.h"

#include <fmt/format.h>

namespace cohort::train {

void refuse_loss(const BadLoss& bad, std::int64_t step) {
  raise(Error(ErrorCode::kDiverged, fmt::format("the loss is {} on rank {}, step {}, micro-batch {}",
                                                bad.loss, bad.rank, step, bad.slot))
            .with_rank(bad.rank)
            .with_remedy("Lower TrainerOptions::optimizer.learning_rate, clip gradients with "
                         "TrainerOptions::clip_grad_norm, look for bad samples, or set "
                         "TrainerOptions::skip_non_finite = true."));
}

void refuse_norm(double norm, std::int64_t step) {
  raise(Error(ErrorCode::kDiverged, fmt::format("the norm of the gradient is {} in step {}", norm, step))
            .with_remedy("Lower TrainerOptions::optimizer.learning_rate, look for bad samples, or set "
                         "TrainerOptions::skip_non_finite = true."));
}

void refuse_scale(double scale, double least, std::int64_t step) {
  raise(
      Error(ErrorCode::kDiverged,
            fmt::format("after an overflow in step {} the loss scale would be {}, expected at least {}", step,
                        scale, least))
          .with_remedy("Gradients overflow at any scale: lower TrainerOptions::optimizer.learning_rate, clip "
                       "gradients with TrainerOptions::clip_grad_norm, look for bad samples, or set "
                       "TrainerOptions::precision.compute = ComputeType::kF32."));
}

void refuse_overflow(const Verdict& verdict, std::int64_t step) {
  if (verdict.bad_loss) refuse_loss(*verdict.bad_loss, step);
  refuse_norm(verdict.gradient_norm, step);
}

}  // namespace cohort::train
