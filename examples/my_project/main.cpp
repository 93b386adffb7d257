// Trains a net on as many ranks as were started: cohort run -n 2 build/my_project
#include <ATen/ATen.h>
#include <cohort/cohort.h>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

// Your data. Sample i must be the same on every rank: here it depends on the seed alone.
struct Points : cohort::Dataset {
  std::int64_t size() const override { return 4000; }

  cohort::Sample at(std::int64_t index) const override {
    at::Tensor point = at::empty({2});
    cohort::fill_uniform(point, cohort::RandomStream(/*seed=*/7, static_cast<std::uint64_t>(index)), -1, 1);
    return {point, (point.square().sum() < 2 / std::numbers::pi).to(at::kLong)};  // is it in the circle?
  }
};

// Your model.
struct Net : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(2, 32));
  torch::nn::Linear output = register_module("output", torch::nn::Linear(32, 2));

  at::Tensor forward(const at::Tensor& input) { return output(at::relu(hidden(input))); }
};

int main() try {
  torch::manual_seed(1);
  cohort::Context context;  // this process as one of the ranks
  const auto points = cohort::cache(std::make_shared<Points>());
  const auto train = cohort::subset(points, 0, 3000), test = cohort::subset(points, 3000, 4000);

  const auto net = std::make_shared<Net>();
  const auto loss = cohort::mean_loss([&](const cohort::Batch& batch) {
    return torch::nn::functional::cross_entropy(net->forward(batch.input), batch.target);
  });
  cohort::Trainer trainer(context, net, loss, {.batch_size = 50, .epochs = 5});
  const double before = trainer.evaluate(*test).loss;
  const cohort::TrainingReport report = trainer.fit(train, test);

  if (context.rank() == 0) {
    std::cout << report.steps << " steps on " << context.size() << " ranks: the loss went from " << before
              << " to " << report.last->loss << " on points not seen before\n";
  }
  return report.last->loss < before / 2 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
