// Batch normalisation over the batches of all ranks, in a training loop of your own.
#include <ATen/ATen.h>
#include <cohort/batch_norm.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/error.h>
#include <iostream>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

struct Net : torch::nn::Module {
  torch::nn::Conv2d convolution = register_module("convolution", torch::nn::Conv2d(1, 8, 3));
  cohort::nn::SyncBatchNorm2d norm = register_module("norm", cohort::nn::SyncBatchNorm2d(8));
  torch::nn::Sequential rest =
      register_module("rest", torch::nn::Sequential(torch::nn::Conv2d(8, 8, 3), torch::nn::BatchNorm2d(8)));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(8, 2));

  at::Tensor forward(const at::Tensor& images) {
    const at::Tensor x = rest->forward(at::relu(norm(convolution(images))));
    return output(at::relu(x).mean({2, 3}));
  }
};

struct Images {
  at::Tensor input;
  at::Tensor target;
};

// Faint stripes, upright or lying, in images of 8 × 8 pixels with much noise.
Images draw_images(int count) {
  const at::Tensor target = at::randint(2, {count}, at::kLong);
  const at::Tensor upright = (at::arange(8).remainder(2).to(at::kFloat) * 2 - 1).expand({count, 1, 8, 8});
  const at::Tensor stripes = at::where(target.view({count, 1, 1, 1}) == 1, upright, upright.transpose(2, 3));
  return {stripes + 0.7 * at::randn({count, 1, 8, 8}), target};
}

int main() try {
  torch::manual_seed(1);
  const Images unseen = draw_images(500);
  auto net = std::make_shared<Net>();
  cohort::nn::convert_sync_batch_norm(*net);  // also the layer of torch inside `rest`

  cohort::Context context;
  torch::manual_seed(10 + static_cast<std::uint64_t>(context.rank()));
  cohort::DataParallel parallel(context, *net);  // the layers get the group
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 60; ++step) {
    const Images images = draw_images(2 + step % 2);  // too few for means of a rank's own
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(images.input), images.target).backward();
    optimizer.step();
  }

  net->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor is_right = net->forward(unseen.input).argmax(1) == unseen.target;
  const double accuracy = is_right.to(at::kFloat).mean().item<double>();
  if (context.rank() == 0) std::cout << context.size() << " ranks: " << 100 * accuracy << " % are right\n";
  return accuracy > 0.9 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
