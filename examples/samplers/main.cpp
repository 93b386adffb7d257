// Batches of torch::data on several ranks, by libtorch's sampler for ranks; and tied weights with
// torch::optim.
#include <ATen/ATen.h>
#include <cohort/cohort.h>
#include <iostream>
#include <torch/data/dataloader.h>
#include <torch/data/datasets/base.h>
#include <torch/data/datasets/map.h>
#include <torch/data/samplers/distributed.h>
#include <torch/data/transforms/stack.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>
#include <unordered_set>

constexpr std::int64_t kTokens = 16;

// A token, and the token that follows it.
struct Pairs : torch::data::datasets::Dataset<Pairs> {
  torch::data::Example<> get(std::size_t index) override {
    const std::int64_t token = static_cast<std::int64_t>(index) % kTokens;
    return {at::scalar_tensor(token, at::kLong), at::scalar_tensor((3 * token + 1) % kTokens, at::kLong)};
  }
  std::optional<std::size_t> size() const override { return 1000; }
};

// The output layer multiplies by the weights of the embedding: one tensor with two names.
struct Net : torch::nn::Module {
  torch::nn::Embedding embedding = register_module("embedding", torch::nn::Embedding(kTokens, 8));
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(8, 8));
  at::Tensor output = register_parameter("output", embedding->weight);

  at::Tensor forward(const at::Tensor& tokens) {
    return at::linear(at::tanh(hidden(embedding(tokens))), output);
  }
};

// Each parameter once, however many names it has.
std::vector<at::Tensor> parameters_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> parameters;
  std::unordered_set<const void*> seen;
  for (const at::Tensor& parameter : module.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) parameters.push_back(parameter);
  }
  return parameters;
}

double train(cohort::Context& context, Net& net) {
  torch::optim::SGD optimizer(parameters_of(net), torch::optim::SGDOptions(0.5));
  const auto pairs = Pairs().map(torch::data::transforms::Stack<>());
  const auto ranks = static_cast<std::size_t>(context.size());
  const auto rank = static_cast<std::size_t>(context.rank());
  torch::data::samplers::DistributedRandomSampler sampler(*pairs.size(), ranks, rank);
  double loss = 0;
  for (std::size_t epoch = 0; epoch < 20; ++epoch) {
    sampler.set_epoch(epoch);  // another order in each epoch, the same on all ranks
    const auto loader = torch::data::make_data_loader(pairs, sampler, /*batch_size=*/32 / ranks);
    for (const torch::data::Example<>& batch : *loader) {
      optimizer.zero_grad();
      const at::Tensor mean = torch::nn::functional::cross_entropy(net.forward(batch.data), batch.target);
      mean.backward();  // averages the gradients of all ranks
      optimizer.step();
      loss = mean.item<double>();
    }
  }
  return loss;
}

int main() try {
  torch::manual_seed(1);
  cohort::Context context;
  Net net;
  cohort::DataParallel parallel(context, net);
  const double loss = train(context, net);
  if (context.rank() == 0)
    std::cout << context.size() << " ranks: the loss of the last batch is " << loss << "\n";
  return loss < 0.5 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
