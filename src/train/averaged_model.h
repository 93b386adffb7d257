#pragma once

#include "train/averaged_weights.h"
#include "train/batch_statistics.h"

#include <memory>
#include <optional>

namespace cohort::train {

/// The data for the statistics of batch normalisation, and how it is passed through the model.
struct StatisticsOrder {
  const Computation& computation;
  const Dataset& data;
  EvaluationOptions options{};
};

/// A module as its averages make it, while this lives: with averaged weights and, if asked, with statistics
/// of batch normalisation of its own. Afterwards, also after a failure, the module is as it was.
///
/// Threads: one at a time. All ranks construct it together, between steps; the destructor does not communicate.
/// Lifetime: the module must outlive it.
/// Failure: as AveragedWeights and BatchStatistics.
/// Cost: as those.
class AveragedModel {
 public:
  AveragedModel(Communicator& group, const ShardedUpdate& update, const ModuleTensors& tensors)
      : weights_(group, update, tensors) {}

  /// False if a rank was asked to stop; then the model is not whole.
  bool compute_statistics(Communicator& group, torch::nn::Module& module, const StatisticsOrder& order) {
    statistics_.emplace(group, module);
    return statistics_->compute(order.computation, order.data, order.options);
  }

 private:
  AveragedWeights weights_;
  std::optional<BatchStatistics> statistics_;
};

}  // namespace cohort::train
