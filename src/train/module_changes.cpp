#include "train/module_changes.h"

#include <cohort/error.h>

#include <algorithm>
#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

namespace cohort::train {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(UsageError(what).with_remedy(
      "Make the DataParallel after the last change of the module; after a later change destroy it and make a "
      "new one."));
}

template <class Visit>
void visit_parameters(const torch::nn::Module& module, const Visit& visit) {
  module.apply([&](const torch::nn::Module& each) {
    for (const auto& item : each.named_parameters(/*recurse=*/false)) visit(item.value());
  });
}

}  // namespace

ModuleChanges::ModuleChanges(const torch::nn::Module& module, const ModuleTensors& tensors)
    : module_(module) {
  for (const auto* kind : {&tensors.parameters, &tensors.frozen}) {
    for (const NamedTensor& named : *kind) {
      known_.push_back({named.name, named.tensor, named.tensor.scalar_type(), named.tensor.sizes().vec(),
                        kind == &tensors.parameters});
    }
  }
  visit_parameters(module_,
                   [&](const at::Tensor& tensor) { walked_.push_back(tensor.unsafeGetTensorImpl()); });
}

void ModuleChanges::check() const {
  for (const Known& known : known_) check(known);
  if (!has_the_known_tensors()) name_difference();
}

void ModuleChanges::check(const Known& known) const {
  const at::Tensor& tensor = known.tensor;
  if (tensor.scalar_type() != known.type) {
    refuse(fmt::format("parameter '{}' is of type {} now, and was of type {} when its DataParallel was made",
                       known.name, c10::toString(tensor.scalar_type()), c10::toString(known.type)));
  }
  if (tensor.sizes() != known.sizes) {
    refuse(fmt::format("parameter '{}' has the sizes [{}] now, and had [{}] when its DataParallel was made",
                       known.name, fmt::join(tensor.sizes(), ", "), fmt::join(known.sizes, ", ")));
  }
  if (tensor.requires_grad() && !known.is_trained) {
    refuse(fmt::format("parameter '{}' requires a gradient now, and did not when its DataParallel was made",
                       known.name));
  }
}

bool ModuleChanges::has_the_known_tensors() const {
  std::size_t at = 0;
  bool is_same = true;
  visit_parameters(module_, [&](const at::Tensor& tensor) {
    is_same = is_same && at < walked_.size() && walked_[at] == tensor.unsafeGetTensorImpl();
    ++at;
  });
  return is_same && at == walked_.size();
}

void ModuleChanges::name_difference() const {
  const auto is_known = [&](const at::Tensor& tensor) {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const Known& known) { return known.tensor.is_same(tensor); });
  };
  const auto now = module_.named_parameters();
  for (const auto& item : now) {
    if (item.value().defined() && !is_known(item.value())) {
      refuse(fmt::format("parameter '{}' was added or replaced after its DataParallel was made", item.key()));
    }
  }
  for (const Known& known : known_) {
    const bool is_there = std::any_of(now.begin(), now.end(),
                                      [&](const auto& item) { return known.tensor.is_same(item.value()); });
    if (!is_there) {
      refuse(fmt::format("parameter '{}' was removed after its DataParallel was made", known.name));
    }
  }
  refuse("the parameters of the module have another order than when its DataParallel was made");
}

}  // namespace cohort::train
