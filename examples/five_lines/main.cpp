// The loop of examples/one_process on several ranks, by five lines that were added or changed.
#include <ATen/ATen.h>
#include <cohort/cohort.h>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

struct Net : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(2, 32));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(32, 2));

  at::Tensor forward(const at::Tensor& input) { return output(at::relu(hidden(input))); }
};

struct Points {
  at::Tensor input;
  at::Tensor target;

  Points select(const at::Tensor& indices) const {
    return {input.index_select(0, indices), target.index_select(0, indices)};
  }
};

// Random points in a square. The class of a point tells whether it lies in a circle; half of them do.
Points draw_points(int count) {
  const at::Tensor input = at::rand({count, 2}) * 2 - 1;
  return {input, (input.square().sum(1) < 2 / std::numbers::pi).to(at::kLong)};
}

double accuracy_of(Net& net, const Points& points) {
  const at::NoGradGuard no_grad;
  return net.forward(points.input).argmax(1).eq(points.target).to(at::kFloat).mean().item<double>();
}

// The indentation stays that of the loop in one process.
// clang-format off
int main() { return cohort::run([](cohort::Context& context) {
  torch::manual_seed(1);
  const Points points = draw_points(4000), unseen = draw_points(1000);

  auto net = std::make_shared<Net>();
  cohort::DataParallel parallel(context, *net);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (const at::Tensor& batch : at::randperm(4000).split(64)) {
      const Points mine = points.select(context.part_of(batch));
      optimizer.zero_grad();
      const at::Tensor loss = torch::nn::functional::cross_entropy(net->forward(mine.input), mine.target);
      loss.backward();
      optimizer.step();
    }
  }

  const double accuracy = accuracy_of(*net, unseen);
  std::cout << 100 * accuracy << " % are right\n";
  return accuracy > 0.9 ? 0 : 1;
}); }
