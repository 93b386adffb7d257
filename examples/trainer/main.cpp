// The trainer with most of its options: optimizer, learning-rate schedule, parameter groups, dropout,
// evaluation, and the same bits on any number of ranks.
#include <ATen/ATen.h>
#include <cmath>
#include <cohort/context.h>
#include <cohort/dropout.h>
#include <cohort/error.h>
#include <cohort/random.h>
#include <cohort/trainer.h>
#include <iostream>
#include <numbers>
#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

// Points on two arms of a spiral; the class of a point is its arm.
struct Spirals : cohort::Dataset {
  std::int64_t size() const override { return 2000; }

  cohort::Sample at(std::int64_t index) const override {
    const std::int64_t arm = index % 2;
    const double length =
        cohort::RandomStream(/*seed=*/3, /*stream=*/0).uniform(static_cast<std::uint64_t>(index));
    const double angle = 5 * length + std::numbers::pi * static_cast<double>(arm);
    return {at::tensor({length * std::cos(angle), length * std::sin(angle)}, at::kFloat),
            at::scalar_tensor(arm, at::kLong)};
  }
};

struct Net : torch::nn::Module {
  torch::nn::Linear first = register_module("first", torch::nn::Linear(2, 64));
  torch::nn::Linear second = register_module("second", torch::nn::Linear(64, 64));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(64, 2));
  cohort::Dropout dropout = register_module("dropout", cohort::Dropout(0.1));

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor hidden = at::tanh(second(at::tanh(first(input * 4))));
    return last(dropout(hidden));
  }
};

// Sums over samples, so that parts of uneven size can be added, and the number of correct answers.
cohort::Evaluation evaluate(Net& net, const cohort::Batch& batch) {
  const at::Tensor answer = net.forward(batch.input);
  const auto samples = static_cast<double>(batch.samples.size());
  return {.loss = torch::nn::functional::cross_entropy(
              answer, batch.target, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)),
          .weight = samples,
          .correct = answer.argmax(1).eq(batch.target).sum().item<double>(),
          .counted = samples};
}

int main() try {
  torch::manual_seed(1);
  cohort::Context context;
  const auto say = [&](const cohort::EvaluationReport& seen) {
    if (context.rank() != 0) return;
    std::cout << "epoch " << seen.epoch << ": loss " << seen.loss << ", accuracy "
              << seen.accuracy.value_or(0) << (seen.is_best ? ", the best so far" : "") << std::endl;
  };

  auto net = std::make_shared<Net>();
  cohort::Trainer trainer(
      context, net, [&](const cohort::Batch& batch) { return evaluate(*net, batch); },
      {.optimizer = {.kind = cohort::OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
       .schedule = {.curve = cohort::learning_rate::Cosine{.t_max = 240}, .warmup = {.steps = 10}},
       .groups = {{.patterns = {"*.bias"}, .weight_decay = 0}},
       .clip_grad_norm = 1,
       .batch_size = 64,
       .micro_batches = 4,  // computed by 1, 2 or 4 ranks
       .epochs = 8,
       .patience = 4,
       .deterministic = cohort::Deterministic::kAnyWorld,
       .on_evaluation = say});
  const auto data = std::make_shared<Spirals>();
  const cohort::TrainingReport report = trainer.fit(data, data);
  if (context.rank() == 0)
    std::cout << report.steps << " steps, parameters " << report.parameters_hash << "\n";
  return report.best->accuracy.value_or(0) > 0.9 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
