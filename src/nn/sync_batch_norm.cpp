#include <cohort/batch_norm.h>

#include "nn/batch_norm_function.h"
#include <cohort/error.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::nn {
namespace {

// Counts the batch, and returns its share in the running statistics.
double momentum_of(const BatchNormCall& call) {
  if (call.num_batches_tracked.defined()) {
    const at::NoGradGuard no_grad;
    at::Tensor(call.num_batches_tracked).add_(1);
    if (!call.momentum) return 1 / call.num_batches_tracked.item<double>();
  }
  return call.momentum.value_or(0);
}

}  // namespace

SynchronisedLayer::~SynchronisedLayer() = default;

at::Tensor SynchronisedLayer::normalised(const at::Tensor& input, const BatchNormCall& call) const {
  if (!call.is_training) {
    return at::batch_norm(input, call.weight, call.bias, call.running_mean, call.running_var,
                          /*training=*/!call.running_mean.defined(), call.momentum.value_or(0), call.eps,
                          /*cudnn_enabled=*/false);
  }
  if (exchange_ == nullptr) {
    throw UsageError(
        UsageError("a SyncBatchNorm in training mode has no group of ranks to normalise over")
            .with_remedy(
                "Make the Trainer or the DataParallel of the module before its first forward, or call "
                "cohort::nn::connect_batch_norm(module, context)."));
  }
  const NormOrder order{
      .exchange = exchange_,
      .eps = call.eps,
      .running = {.mean = call.running_mean, .variance = call.running_var, .momentum = momentum_of(call)}};
  return normalised_over_ranks(input, call.weight, call.bias, order);
}

void SynchronisedLayer::check_input(const at::Tensor& input, std::int64_t channels, std::int64_t least,
                                    std::int64_t most) {
  const bool has_dims = input.dim() >= least && input.dim() <= most;
  if (has_dims && input.size(1) == channels) return;
  const std::string dims = least == most ? std::to_string(most) : fmt::format("{} or {}", least, most);
  throw UsageError(
      fmt::format("a SyncBatchNorm got a tensor of the sizes [{}], expected {} dims, the second of {} "
                  "channels",
                  fmt::join(input.sizes(), ", "), dims, channels));
}

}  // namespace cohort::nn
