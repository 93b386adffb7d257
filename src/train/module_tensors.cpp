#include "train/module_tensors.h"

#include "base/checksum.h"
#include "comm/group/rank_text.h"
#include "nn/synchronised_layers.h"
#include "tensor/scalar_type.h"
#include "train/same_on_all.h"
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>
#include <unordered_set>

namespace cohort::train {
namespace {

std::uint64_t shape_hash(const ModuleTensors& tensors) {
  std::string text;
  for (const auto* kind : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    for (const NamedTensor& named : *kind) {
      const at::Tensor& tensor = named.tensor;
      text += fmt::format("{} {} {} {}\n", named.name, at::toString(tensor.scalar_type()),
                          fmt::join(tensor.sizes(), ","), fmt::join(tensor.strides(), ","));
    }
    text += '\n';
  }
  return content_hash(std::as_bytes(std::span(text)));
}

void check_on_cpu(const ModuleTensors& tensors) {
  for (const auto* kind : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    for (const NamedTensor& named : *kind) {
      if (named.tensor.device().is_cpu()) continue;
      throw UsageError(UsageError(fmt::format("'{}' of the module is on the device {}", named.name,
                                              named.tensor.device().str()))
                           .with_remedy("Cohort trains in CPU memory: call module->to(torch::kCPU) before."));
    }
  }
}

}  // namespace

ModuleTensors tensors_of(const torch::nn::Module& module) {
  ModuleTensors tensors;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.defined() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    (tensor.requires_grad() ? tensors.parameters : tensors.frozen).push_back({item.key(), tensor});
  }
  for (const auto& item : module.named_buffers()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.defined() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    (tensor.is_floating_point() ? tensors.buffers : tensors.counters).push_back({item.key(), tensor});
  }
  return tensors;
}

std::vector<at::Tensor> plain(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& each : named) tensors.push_back(each.tensor);
  return tensors;
}

void check_same_module(Communicator& group, const ModuleTensors& tensors) {
  check_on_cpu(tensors);
  const std::vector<int> others = deviating_ranks(group, shape_hash(tensors));
  if (others.empty()) return;
  throw UsageError(
      UsageError(
          fmt::format("the module of {} differs from that of the other ranks", comm::ranks_text(others)))
          .with_remedy("Build the same module on every rank: the same names, sizes and types, registered "
                       "in the same order."));
}

void check_same_layers(Communicator& group, torch::nn::Module& module) {
  const std::vector<int> others = deviating_ranks(group, nn::synchronised_layers(module).size());
  if (others.empty()) return;
  throw UsageError(
      UsageError(fmt::format("the module of {} has another number of SyncBatchNorm layers than that of the "
                             "other ranks",
                             comm::ranks_text(others)))
          .with_remedy("Build, and convert, the same module on every rank."));
}

void send_from_first(Communicator& group, const std::vector<NamedTensor>& tensors) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors) {
    const at::Tensor whole = named.tensor.detach().contiguous();
    value_or_throw(
        group.run(broadcast({whole.data_ptr(), static_cast<std::size_t>(whole.numel()), dtype_of(whole)}, 0))
            .within(fmt::format("rank 0's '{}' did not reach every rank", named.name)));
    if (whole.data_ptr() != named.tensor.data_ptr()) named.tensor.detach().copy_(whole);
  }
}

void check_trainable(const ModuleTensors& tensors, DType type) {
  if (tensors.parameters.empty()) {
    throw UsageError("the module has no parameter to train").with_remedy("Register one, or unfreeze one.");
  }
  for (const NamedTensor& named : tensors.parameters) {
    const at::ScalarType found = named.tensor.scalar_type();
    const bool fits = found == at::kFloat || found == scalar_type_of(type);
    if (fits && named.tensor.device().is_cpu()) continue;
    throw UsageError(
        Error(ErrorCode::kUsage,
              fmt::format("parameter '{}' is a {} tensor on {}", named.name,
                          at::toString(named.tensor.scalar_type()), named.tensor.device().str()))
            .with_remedy(
                "The trainer updates f32 parameters in CPU memory; convert the module with "
                "module->to(torch::kFloat), and set TrainerOptions::precision.parameters for bf16."));
  }
}

}  // namespace cohort::train
