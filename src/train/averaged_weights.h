#pragma once

#include "comm/group/communicator.h"
#include "train/module_tensors.h"
#include "train/sharded_update.h"

#include <ATen/core/Tensor.h>
#include <vector>

namespace cohort::train {

/// The averages of the parameters in the place of the parameters, while this lives. The memory in which
/// training goes on is not written: whatever happens meanwhile, the destructor gives it back to the module.
///
/// Threads: one at a time. All ranks construct it together, between steps; the destructor does not communicate.
/// Lifetime: the parameters must outlive it.
/// Failure: throws what the group reports; then the module has its own parameters.
/// Cost: a copy of the parameters in f32 on each rank.
class AveragedWeights {
 public:
  AveragedWeights(Communicator& group, const ShardedUpdate& update, const ModuleTensors& tensors);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> own_;  // likewise, in the memory in which they are trained
};

}  // namespace cohort::train
