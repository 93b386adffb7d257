#pragma once

#include "base/result.h"
#include "interchange/stored_elements.h"

#include <span>

namespace cohort::interchange {

// The state dict of an optimizer of torch.optim:
//
//   {'state': {0: {'step': tensor(3.), 'exp_avg': tensor, 'exp_avg_sq': tensor}, 1: …},
//    'param_groups': [{'lr': 0.001, …, 'params': [0, 1]}, …]}
//
// Numbers count the parameters of all groups. Cohort has the same as pieces with names: `weight/exp_avg`, and
// the number of updates, `weight/step`.

/// The state of an optimizer as Cohort names it.
struct OptimizerState {
  struct Number {
    std::string name{};
    std::int64_t value = 0;
  };

  std::vector<NamedTensor> tensors{};  ///< `weight/exp_avg`; `weight/step` too, if it is a tensor
  std::vector<Number> numbers{};       ///< `weight/step` as older versions of PyTorch write it
  std::vector<Dict> groups{};          ///< settings of each group: lr, betas, …, and params as numbers
};

/// Finds the state dict of an optimizer: the file itself, or what is under optimizer_state_dict, optimizer or
/// optim. `parameters` are the names of all parameters in the order in which the optimizer got them, which is
/// that of module.parameters() for most programs. Without names, those of param_names are used, which
/// optimizers write that got module.named_parameters().
///
/// Failure: kUsage if there is none, or the number of names differs; kCorrupt for another structure.
Result<OptimizerState> find_optimizer(const Value& root, std::span<const std::string> parameters);

/// The state dict that load_state_dict() of torch.optim takes. Tensors are named as in OptimizerState;
/// `groups` are the settings of each group, in which `params` are numbers of `parameters`.
///
/// Failure: kUsage for a tensor that belongs to no parameter, and for groups without all parameters.
Result<Dict> optimizer_dict(std::span<const NamedTensor> tensors, std::span<const std::string> parameters,
                            std::span<const Dict> groups);

}  // namespace cohort::interchange
