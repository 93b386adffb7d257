// The loop of examples/one_process on several ranks: parts of a batch, gradient accumulation, clipping,
// evaluation, saving, and going on from saved files. `four_ranks FOLDER` reads and writes files there.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <cohort/broadcast_state.h>
#include <cohort/context.h>
#include <cohort/data_parallel.h>
#include <cohort/error.h>
#include <filesystem>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
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

at::Tensor summed_loss(Net& net, const Points& points) {
  const auto sum = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
  return torch::nn::functional::cross_entropy(net.forward(points.input), points.target, sum);
}

double accuracy_of(cohort::Context& context, Net& net, const Points& points) {
  const at::NoGradGuard no_grad;
  const Points mine = points.select(context.part_of(at::arange(points.input.size(0))));
  at::Tensor right = net.forward(mine.input).argmax(1).eq(mine.target).sum();
  context.all_reduce(right);
  return right.item<double>() / static_cast<double>(points.input.size(0));
}

int main(int argc, char** argv) try {
  torch::manual_seed(1);
  const Points points = draw_points(4000), unseen = draw_points(1000);  // the same on every rank

  cohort::Context context;
  auto net = std::make_shared<Net>();
  cohort::DataParallel parallel(context, *net);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const std::filesystem::path folder = argc > 1 ? argv[1] : "";
  if (context.rank() == 0 && exists(folder / "net.pt")) {
    torch::load(net, folder / "net.pt");
    torch::load(optimizer, folder / "optimizer.pt");
  }
  cohort::broadcast_state(context, *net, optimizer);
  at::Generator order = at::make_generator<at::CPUGeneratorImpl>(/*seed=*/5);
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (const at::Tensor& batch : at::randperm(4000, order).split(64)) {
      const auto halves = context.part_of(batch).tensor_split(2);
      const double scale = static_cast<double>(context.size()) / static_cast<double>(batch.size(0));
      optimizer.zero_grad();
      {
        const auto accumulation = parallel.accumulate();  // no communication yet
        (scale * summed_loss(*net, points.select(halves[0]))).backward();
      }
      (scale * summed_loss(*net, points.select(halves[1]))).backward();  // averages the sum of both
      torch::nn::utils::clip_grad_norm_(net->parameters(), /*max_norm=*/1);
      optimizer.step();
    }
  }

  const double accuracy = accuracy_of(context, *net, unseen);
  if (context.rank() == 0) {
    std::cout << context.size() << " ranks: " << 100 * accuracy << " % are right\n";
    if (!folder.empty()) {
      torch::save(net, folder / "net.pt");
      torch::save(optimizer, folder / "optimizer.pt");
    }
  }
  return accuracy > 0.9 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
