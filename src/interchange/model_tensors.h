#pragma once

#include "base/result.h"
#include "interchange/stored_elements.h"

#include <span>

namespace cohort::interchange {

/// The state dict of a model inside a file.
struct ModelTensors {
  std::string under{};  ///< the key in front of it, such as `state_dict`; empty: the file itself
  std::vector<NamedTensor> tensors{};  ///< in the order of the file
  std::vector<std::string> others{};   ///< names of entries that are no tensors
};

/// Finds the state dict of a model: the file itself, or the dictionary under one of the keys that training
/// programs use: state_dict, model_state_dict, model, module. With `under`, the dictionary under that key.
///
/// Names are those of the file. DistributedDataParallel puts `module.` in front of them; the rule
/// `module.* -> *` of name_rules.h removes it.
///
/// Failure: kUsage, naming the keys that are there, if no dictionary has tensors, or several have.
Result<ModelTensors> find_model(const Value& root, std::string_view under = {});

/// `'a', 'b' and 3 more`: the keys of a dictionary in an error message.
std::string keys_of(const Value& value);

}  // namespace cohort::interchange
