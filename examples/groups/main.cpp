// Groups of ranks, calls in the background and data-parallel training, with the one header of Cohort.
#include <ATen/ATen.h>
#include <cohort/cohort.h>
#include <iostream>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

// Ranks of one colour sum their numbers; the ranks form a grid of one row per pair.
void use_groups(cohort::Context& context) {
  std::vector<float> ones(1000, 1);
  auto half = context.split(context.rank() % 2, /*key=*/0, "half");
  half->all_reduce(ones);
  if (ones[7] != static_cast<float>(half->size())) throw cohort::UsageError("the sum of the half is wrong");

  const int columns = context.size() % 2 == 0 ? 2 : 1;
  cohort::Group row = context.along({1}, {context.size() / columns, columns});
  at::Tensor sum = at::full({3}, row.rank() + 1);
  const cohort::Work work = row.async_all_reduce(sum);
  work.wait();
  if (sum[0].item<int>() != (columns == 2 ? 3 : 1)) throw cohort::UsageError("the sum of the row is wrong");

  std::vector<int> message = {context.rank()};
  if (context.rank() > 0) context.send(message, /*to=*/0);
  for (int other = 1; context.rank() == 0 && other < context.size(); ++other) {
    if (const int from = context.recv_any(message); message[0] != from)
      throw cohort::UsageError("a message is wrong");
  }
}

// A line through noisy points, each rank with points of its own.
double train(cohort::Context& context) {
  torch::manual_seed(static_cast<std::uint64_t>(context.rank()));
  torch::nn::Linear line(1, 1);
  cohort::DataParallel parallel(context, *line);
  torch::optim::SGD optimizer(line->parameters(), torch::optim::SGDOptions(0.2));
  for (int step = 0; step < 200; ++step) {
    const at::Tensor x = at::rand({16, 1}) * 2 - 1;
    optimizer.zero_grad();
    (line(x) - (3 * x - 1)).square().mean().backward();
    optimizer.step();
  }
  return line->weight.item<double>();
}

int main() try {
  cohort::Context context;
  use_groups(context);
  const double slope = train(context);
  if (context.rank() == 0) std::cout << context.size() << " ranks: the slope is " << slope << "\n";
  return std::abs(slope - 3) < 0.01 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
