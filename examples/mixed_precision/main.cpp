// A loop of your own in mixed precision: the forward in bf16, a scaled loss, clipping, and steps that are
// skipped on all ranks where a gradient overflows.
#include <ATen/ATen.h>
#include <cohort/autocast.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/error.h>
#include <cohort/grad_scaler.h>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

struct Net : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(2, 64));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(64, 2));

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

at::Tensor loss_of(Net& net, const Points& points) {
  const cohort::Autocast mixed = cohort::autocast();
  return torch::nn::functional::cross_entropy(net.forward(points.input), points.target);
}

int main() try {
  constexpr int kBatch = 64;  // over all ranks
  torch::manual_seed(1);
  const Points unseen = draw_points(1000);

  cohort::Context context;
  torch::manual_seed(10 + static_cast<std::uint64_t>(context.rank()));  // every rank draws other points

  auto net = std::make_shared<Net>();
  cohort::DataParallel parallel(context, *net);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.3).momentum(0.9));
  cohort::GradScaler scaler(context, {.scale = {.init_scale = 1024, .growth_interval = 100}});
  for (int step = 0; step < 300; ++step) {
    const Points points = draw_points(kBatch / context.size());
    optimizer.zero_grad();
    scaler.scale(loss_of(*net, points)).backward();
    scaler.unscale_(optimizer);
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    scaler.step(optimizer);
    scaler.update();
  }

  const at::NoGradGuard no_grad;
  const double accuracy =
      net->forward(unseen.input).argmax(1).eq(unseen.target).to(at::kFloat).mean().item<double>();
  if (context.rank() == 0) {
    std::cout << context.size() << " ranks: " << 100 * accuracy << " % are right, " << scaler.num_skipped()
              << " steps were skipped, the scale is " << scaler.get_scale() << "\n";
  }
  return accuracy > 0.9 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
