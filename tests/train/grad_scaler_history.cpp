// Prints the history of a GradScaler: reads a line with init_scale, growth_factor, backoff_factor and
// growth_interval, then a letter for each iteration (`.`: finite, `i`: infinite, `n`: NaN), and prints for
// each iteration the scale afterwards and whether the step was made.

#include <cohort/grad_scaler.h>

#include <ATen/ATen.h>
#include <iomanip>
#include <iostream>
#include <limits>
#include <torch/optim/sgd.h>

int main() {
  double init = 0, growth = 0, backoff = 0;
  std::int64_t interval = 0;
  std::string letters;
  while (std::cin >> init >> growth >> backoff >> interval >> letters) {
    cohort::GradScaler scaler({.scale = {.init_scale = init,
                                         .growth_factor = growth,
                                         .backoff_factor = backoff,
                                         .growth_interval = interval}});
    at::Tensor value = at::ones({2}).requires_grad_();
    torch::optim::SGD optimizer({value}, torch::optim::SGDOptions(0.001));
    for (const char letter : letters) {
      value.mutable_grad() = at::ones({2});
      if (letter == 'i') value.mutable_grad()[1] = -std::numeric_limits<float>::infinity();
      if (letter == 'n') value.mutable_grad()[0] = std::numeric_limits<float>::quiet_NaN();
      const bool made = scaler.step(optimizer);
      scaler.update();
      std::cout << std::hexfloat << scaler.get_scale() << (made ? " made " : " skipped ");
    }
    std::cout << '\n';
  }
}
