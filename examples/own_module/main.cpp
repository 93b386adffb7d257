// Your own module and training loop on several ranks, with one added line.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/error.h>
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

int main() try {
  constexpr int kBatch = 64;  // over all ranks
  torch::manual_seed(1);
  const Points unseen = draw_points(1000);

  cohort::Context context;
  torch::manual_seed(10 + static_cast<std::uint64_t>(context.rank()));  // every rank draws other points

  auto net = std::make_shared<Net>();
  cohort::DataParallel parallel(context, *net);  // the added line
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.3).momentum(0.9));
  for (int step = 0; step < 300; ++step) {
    const Points points = draw_points(kBatch / context.size());
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(points.input), points.target).backward();
    optimizer.step();
  }

  const double accuracy = accuracy_of(*net, unseen);
  if (context.rank() == 0) std::cout << context.size() << " ranks: " << 100 * accuracy << " % are right\n";
  return accuracy > 0.9 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
