#pragma once

#include "comm/group/communicator.h"
#include "train/evaluator.h"
#include "train/norm_layer.h"

#include <memory>
#include <vector>

namespace cohort::train {

/// The running statistics of batch normalisation, computed anew over a data set, in the place of those of
/// training while this lives: the means of the statistics of all batches, as torch.optim.swa_utils.update_bn
/// computes them. Other layers are in evaluation mode meanwhile, so that dropout drops nothing. Layers that
/// were in evaluation mode keep their statistics. Synchronised layers normalise each batch by itself.
///
/// Sums are exact, so that the statistics do not depend on the number of ranks. A last batch of one sample
/// joins the one before.
///
/// Threads: one at a time. All ranks construct it together; the destructor does not communicate.
/// Lifetime: the module must outlive it.
/// Failure: throws what the group and the objective report; then the layers have their own statistics.
/// Cost: a forward of the whole data set, divided over the ranks; 176 bytes for each channel and rank.
class BatchStatistics {
 public:
  BatchStatistics(Communicator& group, torch::nn::Module& module);

  /// False if a rank was asked to stop; then the statistics are not those of all batches.
  bool compute(const Computation& computation, const Dataset& data, const EvaluationOptions& options);

 private:
  Communicator& group_;
  torch::nn::Module& module_;
  std::vector<std::unique_ptr<NormLayer>> layers_;
};

/// Whether the module has layers with statistics to compute.
bool has_batch_statistics(torch::nn::Module& module);

}  // namespace cohort::train
