#pragma once

#include "train/module_tensors.h"

#include <string>
#include <vector>

namespace cohort::train {

/// Notices changes of a module that DataParallel cannot follow: a parameter that was added, removed or
/// unfrozen, or that has another type or size.
///
/// Lifetime: the module must outlive it.
/// Cost: check() visits every parameter once, without a copy of its data.
class ModuleChanges {
 public:
  ModuleChanges(const torch::nn::Module& module, const ModuleTensors& tensors);

  /// Failure: throws UsageError that names the changed parameter.
  void check() const;

 private:
  struct Known {
    std::string name;
    at::Tensor tensor;
    at::ScalarType type;
    std::vector<std::int64_t> sizes;
    bool is_trained;
  };
  void check(const Known& known) const;
  bool has_the_known_tensors() const;
  [[noreturn]] void name_difference() const;

  const torch::nn::Module& module_;
  std::vector<Known> known_;
  std::vector<const void*> walked_;  // the tensors of all modules, in the order of a walk
};

}  // namespace cohort::train
