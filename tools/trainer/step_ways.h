#pragma once

#include "bench_step.h"
#include <cohort/context.h>

#include <memory>

namespace cohort::tool {

/// One way of making a training step.
///
/// Threads: one.
/// Lifetime: the context must outlive it.
/// Failure: step() throws; afterwards only the destructor may be called.
class StepWay {
 public:
  virtual ~StepWay() = default;

  /// One step on the same batch as ever, together with the other ranks.
  virtual void step() = 0;
};

/// Model, batch, and the way that the order names.
/// Failure: throws UsageError for a model, way or rule that there is not.
std::unique_ptr<StepWay> make_step_way(Context& context, const BenchStepOrder& order);

}  // namespace cohort::tool
