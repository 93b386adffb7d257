// A loop of your own that goes on where it was interrupted, on any number of ranks.
#include <ATen/ATen.h>
#include <cohort/checkpoint.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/error.h>
#include <cohort/random.h>
#include <cohort/tensor.h>
#include <cstdlib>
#include <iostream>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

struct Net : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(2, 32));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(32, 1));

  at::Tensor forward(const at::Tensor& input) { return output(at::tanh(hidden(input))); }
};

// The points of a step: a function of the step, so that there is no random state to keep.
at::Tensor points_of(std::int64_t step, int rank) {
  at::Tensor points = at::empty({32, 2});
  cohort::fill_uniform(
      points, cohort::RandomStream(/*seed=*/1, static_cast<std::uint64_t>(step * 1000 + rank)), -1, 1);
  return points;
}

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : "points";
  const std::int64_t num_steps = argc > 2 ? std::atoll(argv[2]) : 200;

  cohort::Context context;
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  cohort::DataParallel parallel(context, *net);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));

  cohort::Checkpoint checkpoint(context, parallel, *net, optimizer, {.directory = folder, .every_steps = 20});
  const std::int64_t first = checkpoint.resume();
  double loss = 0;
  for (std::int64_t step = first; step < num_steps; ++step) {
    const at::Tensor points = points_of(step, context.rank());
    optimizer.zero_grad();
    const at::Tensor error = (net->forward(points) - points.prod(1, /*keepdim=*/true)).square().mean();
    error.backward();
    optimizer.step();
    loss = error.item<double>();
    checkpoint.step_done(step + 1);
  }
  checkpoint.finish();

  const double sum = net->hidden->weight.sum().item<double>();
  if (context.rank() == 0) {
    std::cout.precision(17);
    std::cout << "from step " << first << " to " << num_steps << ", sum of weights " << sum << ", loss "
              << loss << "\n";
  }
  return 0;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
