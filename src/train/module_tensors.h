#pragma once

#include "comm/group/communicator.h"

#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort::train {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors of a module, each once, however many names it has.
struct ModuleTensors {
  std::vector<NamedTensor> parameters;  ///< parameters with gradients
  std::vector<NamedTensor> frozen;      ///< parameters without gradients
  std::vector<NamedTensor> buffers;     ///< floating-point buffers: running means and the like
  std::vector<NamedTensor> counters;    ///< the other buffers
};

ModuleTensors tensors_of(const torch::nn::Module& module);
std::vector<at::Tensor> plain(const std::vector<NamedTensor>& named);

/// Checks, on all ranks together, that all ranks have built the same module: names, sizes, strides and types
/// of its tensors, in the same order.
///
/// Failure: throws UsageError, naming the ranks whose module differs from that of most ranks, or a tensor that
/// is not in CPU memory.
void check_same_module(Communicator& group, const ModuleTensors& tensors);

/// Checks, on all ranks together, that their modules have as many layers that normalise over ranks.
///
/// Failure: throws UsageError, naming the ranks that differ.
void check_same_layers(Communicator& group, torch::nn::Module& module);

/// Broadcasts rank 0's tensors to all ranks.
void send_from_first(Communicator& group, const std::vector<NamedTensor>& tensors);

/// Failure: throws UsageError unless there is a parameter, and all are f32, or of this type, in CPU memory.
void check_trainable(const ModuleTensors& tensors, DType type);

}  // namespace cohort::train
