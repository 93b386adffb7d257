#pragma once

#include <ATen/ATen.h>
#include <cohort/random.h>
#include <cohort/solver.h>
#include <cohort/tensor.h>
#include <torch/nn.h>

namespace cohort::test {

/// Samples of a rank, in f64: those with an index of rank, rank + world, …; a rank may have none.
struct Points {
  at::Tensor input;
  at::Tensor target;

  double count() const { return static_cast<double>(input.size(0)); }
};

/// `count` points with `features` numbers, which no plane separates into their two classes.
inline Points points_of(std::int64_t count, std::int64_t features, int rank = 0, int world = 1) {
  at::Tensor input = at::empty({count, features}, at::kDouble), noise = at::empty({count}, at::kDouble);
  fill_normal(input, RandomStream(5, 1), 0, 1);
  fill_normal(noise, RandomStream(5, 2), 0, 1);
  const at::Tensor truth = at::linspace(-1, 2, features, at::kDouble);
  const at::Tensor target = (at::mv(input, truth) + noise).gt(0).to(at::kDouble);
  const at::Tensor mine = at::arange(rank, std::max<std::int64_t>(count, rank), world);
  return {input.index_select(0, mine), target.index_select(0, mine)};
}

/// A linear layer in f64 with an output, all 0, of several tensors whose sizes are no multiple of anything.
inline torch::nn::Linear double_linear(std::int64_t features) {
  torch::nn::Linear layer(features, 1);
  layer->to(torch::kDouble);
  const at::NoGradGuard no_grad;
  layer->weight.zero_();
  layer->bias.zero_();
  return layer;
}

inline at::Tensor logistic_loss(torch::nn::Linear& layer, const Points& points) {
  return at::binary_cross_entropy_with_logits(layer->forward(points.input).flatten(), points.target, {}, {},
                                              at::Reduction::Sum);
}

inline std::vector<double> doubles_of(const torch::nn::Module& module) {
  std::vector<double> all;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor flat = parameter.detach().to(at::kDouble).contiguous();
    all.insert(all.end(), flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
  }
  return all;
}

}  // namespace cohort::test
