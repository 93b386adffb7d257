#pragma once

#include <cstdint>
#include <string>

namespace cohort::tool {

/// How a rank was told to take part in `cohort bench step`.
struct BenchStepOrder {
  std::string model{};
  std::string group{};          ///< under which it greets the controller
  std::string way = "trainer";  ///< trainer, data_parallel, data_parallel_without_update
  std::string rule = "sgd";     ///< sgd, momentum, adamw
  double learning_rate = 0.001;
  std::int64_t batch = 8;  ///< samples of this rank
};

/// Makes the model and a batch, greets the controller that COHORT_BENCH_CONTROL names, and makes steps as it
/// asks for them, as one of the ranks.
/// Failure: throws what cannot be set up; a step that fails is told to the controller.
void serve_bench_steps(const BenchStepOrder& order);

}  // namespace cohort::tool
