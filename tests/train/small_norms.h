#pragma once

#include "train/small_models.h"
#include <cohort/batch_norm.h>

namespace cohort::test {

/// Two layers around a batch normalisation of two channels of three points each.
template <class Norm>
struct Normed : torch::nn::Module {
  Normed() {
    first = register_module("first", torch::nn::Linear(6, 6));
    norm = register_module("norm", Norm(2));
    last = register_module("last", torch::nn::Linear(6, 3));
    const at::NoGradGuard no_grad;
    std::uint64_t stream = 0;
    for (at::Tensor& parameter : parameters()) {
      fill_uniform(parameter, RandomStream(3, stream++), -0.5, 0.5);
    }
  }
  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor channels = first->forward(input).view({input.size(0), 2, 3});
    return last->forward(norm->forward(channels).view({input.size(0), 6}));
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  Norm norm{nullptr};
};

using LocalNet = Normed<torch::nn::BatchNorm1d>;
using SyncedNet = Normed<nn::SyncBatchNorm1d>;

}  // namespace cohort::test
