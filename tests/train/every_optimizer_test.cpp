// Every optimizer on 1, 2 and 3 ranks, in every division of the parameters: the same bits. The gradients of
// this loss are whole numbers that do not depend on the parameters, so that their sums are exact and ranks
// can differ by the update alone.

#include "small_models.h"
#include "storage/temporary_directory.h"
#include "training_world.h"
#include "update/tensors.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

enum class KernelMemory { kPlain, kChannelsLast };

/// Parameters of awkward shapes: some smaller than a slice, one with several buckets, one that some steps do
/// not use.
struct ManyShapes : torch::nn::Module {
  explicit ManyShapes(KernelMemory memory = KernelMemory::kChannelsLast) {
    const at::NoGradGuard no_grad;
    const std::vector<std::vector<std::int64_t>> shapes = {{13, 7}, {13}, {23, 19}, {1}, {3, 29}, {5, 3}, {}};
    for (std::size_t i = 0; i < shapes.size(); ++i) add(i, at::empty(shapes[i]));
    at::Tensor kernel = at::empty({4, 3, 2, 5});
    if (memory == KernelMemory::kChannelsLast) kernel = kernel.contiguous(at::MemoryFormat::ChannelsLast);
    add(shapes.size(), kernel);
  }

  void add(std::size_t i, const at::Tensor& tensor) {
    at::Tensor numbers = at::empty(tensor.sizes());
    fill_uniform(numbers, RandomStream(3, i), -1, 1);
    tensor.copy_(numbers);
    all.push_back(register_parameter("p" + std::to_string(i), tensor));
  }

  std::vector<at::Tensor> all;
};

/// Sample i is the number i.
struct Indices final : Dataset {
  explicit Indices(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  Sample at(std::int64_t i) const override { return {at::full({1}, i, at::kLong), at::zeros({1})}; }
  std::int64_t count_;
};

constexpr std::size_t kSometimes = 4;  // the parameter that samples from 40 on use

Objective whole_gradients(const std::shared_ptr<ManyShapes>& net) {
  return [net](const Batch& batch) {
    at::Tensor loss = at::zeros({});
    for (std::size_t k = 0; k < net->all.size(); ++k) {
      const at::Tensor& parameter = net->all[k];
      const at::Tensor place = at::arange(parameter.numel(), at::kLong) * 5 + static_cast<std::int64_t>(k);
      at::Tensor samples = batch.input;
      if (k == kSometimes) {
        if (!samples.ge(40).any().item<bool>()) continue;
        samples = samples.masked_select(samples.ge(40)).view({-1, 1});
      }
      const at::Tensor factors = ((samples * 7 + place) % 9 - 4).sum(0).to(parameter.scalar_type());
      loss = loss + (parameter.reshape({-1}) * factors).sum();
    }
    return Evaluation{.loss = loss, .weight = static_cast<double>(batch.samples.size())};
  };
}

TrainerOptions options_with(OptimizerSettings optimizer) {
  optimizer.learning_rate = 0.01;
  return {.optimizer = std::move(optimizer),
          .groups = {{.patterns = {"p2", "p7"}, .weight_decay = 0.125},
                     {.patterns = {"p5"}, .learning_rate = 0.002}},
          .batch_size = 13,
          .epochs = 20,
          .evaluate_every = std::nullopt,
          .shuffle = false,
          .bucket_bytes = 1024};
}

struct Ended {
  TrainingReport report{};
  std::vector<float> numbers{};
};

Ended train_on(int world, const TrainerOptions& options, KernelMemory memory = KernelMemory::kChannelsLast) {
  Ended ended;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto net = std::make_shared<ManyShapes>(memory);
    Trainer trainer(group, arena, net, whole_gradients(net), options);
    const TrainingReport report = trainer.fit(std::make_shared<Indices>(61));
    if (group.rank() != 0) return;
    ended.report = report;
    for (const at::Tensor& each : net->all) {
      const at::Tensor plain = each.detach().contiguous().to(at::kFloat);
      const auto* const first = plain.const_data_ptr<float>();
      ended.numbers.insert(ended.numbers.end(), first, first + plain.numel());
    }
  });
  EXPECT_WORLD_OK(outcome);
  return ended;
}

std::vector<OptimizerCase> all_cases() {
  std::vector<OptimizerCase> cases = all_optimizers();
  for (const OptimizerCase& each : tensor_optimizers()) cases.push_back(each);
  return cases;
}

class OnRanks : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, OnRanks, testing::ValuesIn(all_cases()), case_name);

TEST_P(OnRanks, AHundredStepsHaveTheBitsOfOneRank) {
  TrainerOptions options = options_with(GetParam().settings);
  const Ended alone = train_on(1, options);
  EXPECT_EQ(alone.report.steps, 100);
  for (const float each : alone.numbers) EXPECT_TRUE(std::isfinite(each));
  EXPECT_EQ(train_on(2, options).numbers, alone.numbers);
  options.one_copy = false;
  EXPECT_EQ(train_on(3, options).numbers, alone.numbers);
}

class TensorsOnRanks : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, TensorsOnRanks, testing::ValuesIn(tensor_optimizers()), case_name);

TEST_P(TensorsOnRanks, GoOnAfterAnInterruptionOnAnyNumberOfRanks) {
  TrainerOptions options = options_with(GetParam().settings);
  options.epochs = 2;
  const TrainingReport whole = train_on(1, options).report;
  for (const auto& [before, after] : {std::pair{3, 2}, {1, 3}, {2, 2}, {4, 1}}) {
    const TemporaryDirectory folder;
    TrainerOptions first = options, second = options;
    first.checkpoint = second.checkpoint = CheckpointOptions{.directory = folder.path(), .background = false};
    first.steps = 4;
    EXPECT_EQ(train_on(before, first).report.saved_step, 4);
    second.resume = "";
    const TrainingReport resumed = train_on(after, second).report;
    EXPECT_TRUE(resumed.resumed);
    EXPECT_EQ(resumed.parameters_hash, whole.parameters_hash) << before << " to " << after;
  }
}

TEST_P(TensorsOnRanks, ComposeWithClipsMastersAndSkippedSteps) {
  TrainerOptions options = options_with(GetParam().settings);
  options.epochs = 2;
  options.clip_grad_norm = 3;
  options.clip_grad_value = 0.05;
  options.precision.parameters = DType::kBF16;
  options.precision.compute = ComputeType::kBF16;
  options.skip_non_finite = true;
  const Ended alone = train_on(1, options);
  EXPECT_EQ(alone.report.steps, 10);
  EXPECT_EQ(train_on(3, options).numbers, alone.numbers);
  options.clip_grad_value.reset();
  EXPECT_NE(train_on(1, options).numbers, alone.numbers);
}

// The owner of a tensor computes with its elements in the order of their indices.
TEST(WholeTensors, DoNotDependOnTheOrderOfDimensionsInMemory) {
  TrainerOptions options = options_with({.kind = OptimizerKind::kMuon});
  options.epochs = 1;
  EXPECT_EQ(train_on(2, options, KernelMemory::kPlain).numbers, train_on(3, options).numbers);
}

}  // namespace
}  // namespace cohort::test
