// A model given as stages and a loss, and sequences of uneven length: each sample has a mask, and the loss is
// the mean over the tokens that count, however they are spread over ranks.
#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/error.h>
#include <cohort/random.h>
#include <cohort/stages.h>
#include <cohort/trainer.h>
#include <iostream>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

constexpr std::int64_t kWords = 12;
constexpr std::int64_t kLongest = 10;

// Counting: each number is followed by the next one. Sequences are padded with zeros to equal length.
struct Counting : cohort::Dataset {
  std::int64_t size() const override { return 1200; }

  cohort::Sample at(std::int64_t index) const override {
    const cohort::RandomStream random(/*seed=*/5, static_cast<std::uint64_t>(index));
    const auto start = static_cast<std::int64_t>(random.below(kWords, 0));
    const auto length = static_cast<std::int64_t>(1 + random.below(kLongest, 1));
    const at::Tensor mask = at::arange(kLongest).lt(length).to(at::kFloat);
    const at::Tensor words = (at::arange(kLongest + 1) + start).remainder(kWords);
    return {words.slice(0, 0, kLongest) * mask.to(at::kLong),
            words.slice(0, 1) * mask.to(at::kLong),
            {{"mask", mask}}};
  }
};

// The sum over tokens that count, and their number.
cohort::Evaluation token_loss(const at::Tensor& output, const cohort::Batch& batch) {
  const auto one_each = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone);
  const at::Tensor losses =
      torch::nn::functional::cross_entropy(output.flatten(0, 1), batch.target.flatten(), one_each);
  const at::Tensor mask = batch["mask"].flatten();
  return {.loss = (losses * mask).sum(), .weight = mask.sum().item<double>()};
}

int main() try {
  torch::manual_seed(1);
  cohort::Context context;
  const cohort::Stages net({torch::nn::Embedding(kWords, 16), torch::nn::Linear(16, 32), torch::nn::Tanh(),
                            torch::nn::Linear(32, kWords)});
  cohort::Trainer trainer(context, net, token_loss,
                          {.optimizer = {.kind = cohort::OptimizerKind::kAdam, .learning_rate = 0.01},
                           .groups = {{.patterns = {"0.weight"}, .learning_rate = 0.02}},
                           .batch_size = 30,
                           .epochs = 5});
  const auto data = std::make_shared<Counting>();
  const double before = trainer.evaluate(*data).loss;
  const double after = trainer.fit(data, data).last->loss;
  if (context.rank() == 0) {
    std::cout << "the loss of a word went from " << before << " to " << after << " on " << context.size()
              << " ranks\n";
  }
  return after < before / 10 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}
