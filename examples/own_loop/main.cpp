// Data parallelism by hand: linear regression with one all-reduce of the gradient in each step.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/error.h>
#include <iostream>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

int main() try {
  cohort::Context context;
  const at::Tensor truth = at::tensor({2.0, -1.0, 0.5}, at::kFloat);

  // Each rank has its own samples, and another number of them.
  torch::manual_seed(static_cast<std::uint64_t>(context.rank()));
  const at::Tensor input = at::randn({500 + 100 * context.rank(), 3});
  const at::Tensor target = at::mv(input, truth) + at::randn({input.size(0)}) * 0.1;

  at::Tensor weight = at::zeros({3}).set_requires_grad(true);
  at::Tensor samples = at::full({1}, input.size(0), at::kFloat);
  context.all_reduce(samples);  // the number of samples of all ranks

  for (int step = 0; step < 100; ++step) {
    const at::Tensor loss = (at::mv(input, weight) - target).square().sum();
    const at::Tensor gradient = torch::autograd::grad({loss}, {weight}).front();
    context.all_reduce(gradient);  // a sum over samples, so ranks weigh by their number of samples
    const at::NoGradGuard no_grad;
    weight -= 0.1 * gradient / samples;
  }

  const double distance = (weight - truth).norm().item<double>();
  at::Tensor lowest = weight.detach().clone(), highest = lowest.clone();
  context.all_reduce(lowest, cohort::ReduceOp::kMin);
  context.all_reduce(highest, cohort::ReduceOp::kMax);
  const bool equal = at::equal(lowest, highest);
  if (context.rank() == 0) {
    std::cout << samples.item<float>() << " samples on " << context.size() << " ranks: the weights are "
              << distance << " away from the truth and " << (equal ? "equal" : "not equal")
              << " on all ranks\n";
  }
  return distance < 0.05 && equal ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
