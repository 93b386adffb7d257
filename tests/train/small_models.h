#pragma once

#include <cohort/random.h>
#include <cohort/tensor.h>
#include <cohort/trainer.h>

#include <ATen/ATen.h>
#include <limits>
#include <torch/nn.h>

namespace cohort::test {

/// Small whole numbers: sums of their products are exact in any order.
struct WholeNumbers final : Dataset {
  explicit WholeNumbers(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  Sample at(std::int64_t i) const override {
    at::Tensor input = at::empty({3});
    for (int j = 0; j < 3; ++j) input[j] = static_cast<double>((i * 7 + j * 5) % 4 - 1);
    return {input, at::full({1}, static_cast<double>(i % 5 - 2))};
  }
  std::int64_t count_;
};

/// Numbers with many digits: sums depend on their order.
struct RoughNumbers final : Dataset {
  explicit RoughNumbers(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  Sample at(std::int64_t i) const override {
    at::Tensor input = at::empty({6});
    fill_uniform(input, RandomStream(7, static_cast<std::uint64_t>(i)), -1, 1);
    return {input, at::full({1}, i % 3, at::kLong).squeeze(0)};
  }
  std::int64_t count_;
};

template <class Net>
Objective squared_error(Net net) {
  return [net](const Batch& batch) mutable {
    const at::Tensor output = net->forward(batch.input);
    return Evaluation{.loss = (output - batch.target).square().sum(),
                      .weight = static_cast<double>(batch.samples.size())};
  };
}

template <class Net>
Objective cross_entropy(Net net) {
  return [net](const Batch& batch) mutable {
    const at::Tensor output = net->forward(batch.input);
    return Evaluation{.loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::Sum),
                      .weight = static_cast<double>(batch.samples.size()),
                      .correct = (output.argmax(1) == batch.target).sum().item<double>(),
                      .counted = static_cast<double>(batch.samples.size())};
  };
}

/// One linear layer whose weights are the same on every rank, and exact.
inline torch::nn::Linear exact_linear() {
  torch::nn::Linear layer(3, 1);
  const at::NoGradGuard no_grad;
  layer->weight.copy_(at::tensor({0.5f, -1.0f, 0.25f}).view({1, 3}));
  layer->bias.fill_(1);
  return layer;
}

/// Numbers that keep the layer exact over a few steps.
inline TrainerOptions exact_options() {
  return {.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.0625, .momentum = 0.5},
          .batch_size = 16,
          .epochs = 1};
}

/// The same numbers on every rank and in every world.
inline torch::nn::Sequential with_fixed_numbers(torch::nn::Sequential net) {
  const at::NoGradGuard no_grad;
  std::uint64_t stream = 0;
  for (at::Tensor& parameter : net->parameters()) {
    fill_uniform(parameter, RandomStream(3, stream++), -0.5, 0.5);
  }
  return net;
}

inline torch::nn::Sequential small_net() {
  return with_fixed_numbers(
      torch::nn::Sequential(torch::nn::Linear(6, 9), torch::nn::Tanh(), torch::nn::Linear(9, 3)));
}

inline std::vector<float> numbers_of(const torch::nn::Module& module) {
  std::vector<float> all;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor flat = parameter.detach().contiguous();
    all.insert(all.end(), flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  }
  return all;
}

/// A module with buffers that do not change, and buffers that user code changes.
struct Masked : torch::nn::Module {
  Masked() {
    layer = register_module("layer", exact_linear());
    mask = register_buffer("mask", at::tensor({-std::numeric_limits<float>::infinity(),
                                               std::numeric_limits<float>::lowest(), 0.1f}));
    scale = register_buffer("scale",
                            at::full({1}, 0.1, at::kDouble));  // the mean of three such numbers is rounded
    running = register_buffer("running", at::zeros({1}));
    counter = register_buffer("counter", at::zeros({1}, at::kLong));
  }
  at::Tensor forward(const at::Tensor& input) { return layer->forward(input); }
  torch::nn::Linear layer{nullptr};
  at::Tensor mask, scale, running, counter;
};

/// A module with layers of which each test uses some.
struct ThreeLayers : torch::nn::Module {
  ThreeLayers() {
    used = register_module("used", exact_linear());
    other = register_module("other", exact_linear());
    nobodys = register_module("nobodys", exact_linear());
  }
  torch::nn::Linear used{nullptr}, other{nullptr}, nobodys{nullptr};
};

}  // namespace cohort::test
