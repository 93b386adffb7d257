#pragma once

#include "config/config.h"
#include "data/facts.h"

#include <cohort/context.h>
#include <cohort/dataset.h>
#include <cstdint>
#include <memory>
#include <string>

namespace cohort::tool {

/// The command line of a rank of `cohort bench step`.
struct BenchStepOrder {
  std::string model{};
  std::string group{};               ///< under which it greets the controller
  std::string way = "trainer";       ///< trainer, apart, data_parallel, …_without_update
  std::string batch_norm = "local";  ///< model.batch_norm, for models that have it
  std::string optimizer = "sgd";     ///< sgd or adamw
  double momentum = 0;               ///< of sgd
  double learning_rate = 0.001;
  std::int64_t batch = 8;         ///< samples of this rank
  std::string precision = "f32";  ///< or bf16: of forward and backward
};

/// Builds the model and a batch, connects to the controller that COHORT_BENCH_CONTROL names, and takes as
/// many steps as the controller asks for.
///
/// Failure: throws if the setup fails; the controller is told of a step that fails.
void serve_bench_steps(const BenchStepOrder& order);

/// A model of `cohort bench step`, and the data that it is built for.
struct BenchModel {
  ModelConfig config;
  DataFacts facts;
};

/// The model of this name: mlp, gpt, resnet18, wide, many or tiny. bench/peers/torch_models.py has the same
/// models.
///
/// Failure: throws UsageError for another name.
BenchModel bench_model(const std::string& name);

/// Random samples of the shape that `facts` describes.
Batch random_batch(const DataFacts& facts, std::int64_t samples, std::uint64_t seed);

/// An implementation of the training step that is measured.
///
/// Threads: one.
/// Lifetime: the context must outlive it.
/// Failure: step() throws; afterwards only the destructor may be called.
class StepWay {
 public:
  virtual ~StepWay() = default;

  /// Takes one step, together with the other ranks; always on the same batch.
  virtual void step() = 0;
};

/// Builds the model and the batch, and the implementation that `order.way` names.
///
/// Failure: throws UsageError for an unknown model, way or optimizer.
std::unique_ptr<StepWay> make_step_way(Context& context, const BenchStepOrder& order);

}  // namespace cohort::tool
