// Your own data set: signals that a model classifies by their frequency.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/error.h>
#include <cohort/random.h>
#include <cohort/tensor.h>
#include <cohort/trainer.h>
#include <cohort/views.h>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

constexpr int kClasses = 4;
constexpr int kPoints = 48;

// A data set has two functions. Sample i is a function of i, so it is the same on all ranks.
struct Signals : cohort::Dataset {
  std::int64_t size() const override { return 3000; }

  cohort::Sample at(std::int64_t index) const override {
    const std::int64_t frequency = index % kClasses;
    const double phase =
        cohort::RandomStream(/*seed=*/7, /*stream=*/0).uniform(static_cast<std::uint64_t>(index));
    const at::Tensor time = at::arange(kPoints, at::kFloat) / kPoints;
    return {at::sin(2 * std::numbers::pi * (static_cast<double>(frequency + 1) * time + phase)),
            at::scalar_tensor(frequency, at::kLong)};
  }
};

// The stream is another one for each sample and epoch, and the same on all ranks.
cohort::Sample with_noise(cohort::Sample sample, const cohort::RandomStream& random) {
  at::Tensor noise = at::empty_like(sample.input);
  cohort::fill_normal(noise, random, /*mean=*/0, /*deviation=*/0.2);
  sample.input = sample.input + noise;
  return sample;
}

int main() try {
  torch::manual_seed(1);
  cohort::Context context;
  // Views can be nested: cache() keeps the signals, augment() adds new noise in each epoch, subset() divides.
  const auto signals = cohort::augment(cohort::cache(std::make_shared<Signals>()), with_noise);
  const auto train = cohort::subset(signals, 0, 2500), test = cohort::subset(signals, 2500, 3000);

  torch::nn::Sequential net(torch::nn::Linear(kPoints, 32), torch::nn::ReLU(),
                            torch::nn::Linear(32, kClasses));
  const auto loss = cohort::mean_loss([&](const cohort::Batch& batch) {
    return torch::nn::functional::cross_entropy(net->forward(batch.input), batch.target);
  });
  cohort::Trainer trainer(context, net.ptr(), loss, {.batch_size = 50, .epochs = 3});
  const double before = trainer.evaluate(*test).loss;
  const cohort::TrainingReport report = trainer.fit(train, test);

  if (context.rank() == 0) {
    std::cout << report.steps << " steps on " << context.size() << " ranks: the loss went from " << before
              << " to " << report.last->loss << " on signals not seen before\n";
  }
  return report.last->loss < before / 4 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
