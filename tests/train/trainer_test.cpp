#include "small_models.h"
#include "training_world.h"

#include <cmath>
#include <gtest/gtest.h>
#include <mutex>

namespace cohort::test {
namespace {

// The state of rank 0 after training; all ranks must have the same.
struct Result0 {
  std::vector<float> parameters;
  TrainingReport report;
};

using MakeModel = std::function<std::pair<std::shared_ptr<torch::nn::Module>, Objective>()>;

Result0 trained(int world, const MakeModel& make, const TrainerOptions& options,
                const std::shared_ptr<const Dataset>& data) {
  std::vector<Result0> results(static_cast<std::size_t>(world));
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto [module, objective] = make();
    Trainer trainer(group, arena, module, objective, options);
    Result0& mine = results[static_cast<std::size_t>(group.rank())];
    mine.report = trainer.fit(data);
    mine.parameters = numbers_of(*module);
  });
  EXPECT_WORLD_OK(outcome);
  for (const Result0& each : results) {
    EXPECT_EQ(each.parameters, results[0].parameters);
    EXPECT_EQ(each.report.parameters_hash, results[0].report.parameters_hash);
  }
  return results[0];
}

MakeModel exact_model() {
  return [] {
    auto layer = exact_linear();
    return std::pair<std::shared_ptr<torch::nn::Module>, Objective>(layer.ptr(), squared_error(layer));
  };
}

MakeModel rough_model() {
  return [] {
    auto net = small_net();
    return std::pair<std::shared_ptr<torch::nn::Module>, Objective>(net.ptr(), cross_entropy(net));
  };
}

TEST(Trainer, BuffersThatNothingChangesStayAsTheyAre) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    auto net = std::make_shared<Masked>();
    const at::Tensor mask = net->mask.clone();
    Trainer trainer(group, arena, net, squared_error(net), exact_options());
    trainer.fit(std::make_shared<WholeNumbers>(32));
    EXPECT_TRUE(at::equal(net->mask, mask));
    EXPECT_EQ(net->scale.item<double>(), 0.1);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Trainer, ManyRanksOnTheSplitBatchAreOneRankOnTheWhole) {
  const auto data = std::make_shared<WholeNumbers>(32);
  const Result0 one = trained(1, exact_model(), exact_options(), data);
  EXPECT_EQ(one.report.steps, 2);
  EXPECT_NE(one.parameters, numbers_of(*exact_linear()));
  for (const int world : {2, 3, 4}) {
    EXPECT_EQ(trained(world, exact_model(), exact_options(), data).parameters, one.parameters) << world;
  }
}

TEST(Trainer, AnUnevenLastBatchWeighsWhatItHolds) {
  const auto data = std::make_shared<WholeNumbers>(23);  // 16 and 7
  const Result0 one = trained(1, exact_model(), exact_options(), data);
  EXPECT_EQ(one.report.steps, 2);
  for (const int world : {2, 3, 4}) {
    EXPECT_EQ(trained(world, exact_model(), exact_options(), data).parameters, one.parameters) << world;
  }
}

TEST(Trainer, MoreRanksThanSamplesOfABatch) {
  const auto data = std::make_shared<WholeNumbers>(18);  // 16 and 2
  EXPECT_EQ(trained(4, exact_model(), exact_options(), data).parameters,
            trained(1, exact_model(), exact_options(), data).parameters);
}

TEST(Trainer, SeveralSlotsPerRankAddUp) {
  const auto data = std::make_shared<WholeNumbers>(32);
  TrainerOptions options = exact_options();
  const Result0 one = trained(1, exact_model(), options, data);
  for (const int slots : {2, 5, 8}) {
    options.micro_batches = slots;
    EXPECT_EQ(trained(2, exact_model(), options, data).parameters, one.parameters) << slots;
  }
}

TEST(Trainer, TheWholeDataSetAndSingleSamplesAreTheSameCode) {
  const auto data = std::make_shared<WholeNumbers>(16);
  TrainerOptions options = exact_options();
  options.batch_size = std::nullopt;
  const Result0 whole = trained(2, exact_model(), options, data);
  EXPECT_EQ(whole.report.steps, 1);
  options.batch_size = 16;
  EXPECT_EQ(trained(2, exact_model(), options, data).parameters, whole.parameters)
      << "without a batch size all samples are one batch";
  EXPECT_NE(whole.parameters, numbers_of(*exact_linear()));
  options.batch_size = 1;
  options.optimizer.momentum = 0;
  options.optimizer.learning_rate = 0.0078125;
  const Result0 single = trained(1, exact_model(), options, data);
  EXPECT_EQ(single.report.steps, 16);
  EXPECT_EQ(trained(2, exact_model(), options, data).parameters, single.parameters)
      << "a rank without samples does not change the result";
  EXPECT_NE(single.parameters, whole.parameters);
}

TEST(Trainer, AnyWorldGivesTheSameBits) {
  const auto data = std::make_shared<RoughNumbers>(100);
  TrainerOptions options{
      .optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
      .batch_size = 32,
      .micro_batches = 8,
      .epochs = 2,
      .deterministic = Deterministic::kAnyWorld};
  for (const std::optional<double> clip : {std::optional<double>(), std::optional(0.1)}) {
    options.clip_grad_norm = clip;
    const Result0 one = trained(1, rough_model(), options, data);
    for (const int world : {2, 4, 8}) {
      const Result0 many = trained(world, rough_model(), options, data);
      EXPECT_EQ(many.parameters, one.parameters) << world;
      EXPECT_EQ(many.report.loss, one.report.loss) << world;
    }
  }
}

TEST(Trainer, TheSameRunGivesTheSameBits) {
  const auto data = std::make_shared<RoughNumbers>(100);
  const TrainerOptions options{.optimizer = {.learning_rate = 0.1}, .batch_size = 25, .epochs = 3};
  EXPECT_EQ(trained(3, rough_model(), options, data).parameters,
            trained(3, rough_model(), options, data).parameters);
}

// small_net() with layers that were registered in another order than they are used in: after the first step
// the trainer moves values and moments to other buckets.
struct Swapped : torch::nn::Module {
  Swapped() {
    const torch::nn::Sequential net = small_net();
    last = register_module("last", net->ptr<torch::nn::LinearImpl>(2));
    first = register_module("first", net->ptr<torch::nn::LinearImpl>(0));
  }
  at::Tensor forward(const at::Tensor& input) { return last->forward(first->forward(input).tanh()); }
  torch::nn::Linear last{nullptr}, first{nullptr};
};

MakeModel swapped_model() {
  return [] {
    auto net = std::make_shared<Swapped>();
    return std::pair<std::shared_ptr<torch::nn::Module>, Objective>(net, cross_entropy(net));
  };
}

TEST(Trainer, SmallBucketsChangeNothing) {
  const auto data = std::make_shared<RoughNumbers>(64);
  for (const MakeModel& make : {rough_model(), swapped_model()}) {
    TrainerOptions options{
        .optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 0.01}, .batch_size = 16, .epochs = 3};
    const Result0 large = trained(2, make, options, data);
    options.bucket_bytes = 64;
    EXPECT_EQ(trained(2, make, options, data).parameters, large.parameters);
  }
}

// Layers that are used in another order than they were registered in, a layer that is never used, and one
// that only odd samples use.
struct Odd : torch::nn::Module {
  Odd() {
    late = register_module("late", exact_linear());
    unused = register_module("unused", exact_linear());
    sometimes = register_module("sometimes", exact_linear());
    early = register_module("early", torch::nn::Linear(torch::nn::LinearOptions(3, 3).bias(false)));
    const at::NoGradGuard no_grad;
    early->weight.copy_(at::eye(3));
  }
  at::Tensor forward(const Batch& batch) {
    at::Tensor output = late->forward(early->forward(batch.input));
    if (batch.samples.front() >= 8) output = output + sometimes->forward(batch.input);
    return output;
  }
  torch::nn::Linear late{nullptr}, unused{nullptr}, sometimes{nullptr}, early{nullptr};
};

TEST(Trainer, AParameterThatNobodyUsedIsNotMoved) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    const auto net = std::make_shared<Odd>();
    const auto before = numbers_of(*net->sometimes);
    Trainer trainer(group, arena, net,
                    [&](const Batch& batch) {
                      return Evaluation{.loss = (net->forward(batch) - batch.target).square().sum(),
                                        .weight = static_cast<double>(batch.samples.size())};
                    },
                    {.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01, .weight_decay = 0.5},
                     .batch_size = 16,
                     .epochs = 3,
                     .shuffle = false,
                     .bucket_bytes = 64});
    trainer.fit(std::make_shared<WholeNumbers>(16));
    EXPECT_EQ(numbers_of(*net->unused), numbers_of(*exact_linear()));
    EXPECT_NE(numbers_of(*net->sometimes), before) << "one rank used the layer";
    EXPECT_NE(numbers_of(*net->late), numbers_of(*exact_linear()));
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Trainer, FrozenGroupsStayAndOthersHaveTheirOwnRate) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    const auto before = numbers_of(*net);
    Trainer trainer(
        group, arena, net.ptr(), cross_entropy(net),
        {.optimizer = {.learning_rate = 0.1},
         .groups = {{.patterns = {"0.*"}, .frozen = true}, {.patterns = {"*.bias"}, .learning_rate = 0}},
         .batch_size = 16,
         .epochs = 1});
    trainer.fit(std::make_shared<RoughNumbers>(64));
    const auto after = numbers_of(*net);
    const std::size_t hidden = 6 * 9 + 9, weights = 9 * 3;
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + hidden, after.begin()));
    EXPECT_FALSE(
        std::equal(before.begin() + hidden, before.begin() + hidden + weights, after.begin() + hidden));
    EXPECT_TRUE(std::equal(before.end() - 3, before.end(), after.end() - 3));
  });
  EXPECT_WORLD_OK(outcome);
}

// One tensor under two names.
struct Tied : torch::nn::Module {
  Tied() {
    first = register_parameter("first", at::eye(3));
    register_parameter("second", first);
  }
  at::Tensor first;
};

TEST(Trainer, ATensorUnderTwoNamesIsUpdatedOnce) {
  std::vector<float> seen[2];
  for (const int world : {1, 2}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      const auto net = std::make_shared<Tied>();
      Trainer trainer(
          group, arena, net,
          [&](const Batch& batch) {
            const at::Tensor output = batch.input.matmul(net->first).matmul(net->first);
            return Evaluation{.loss = output.sum(), .weight = static_cast<double>(batch.samples.size())};
          },
          {.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.5, .momentum = 0}, .batch_size = 8});
      trainer.fit(std::make_shared<WholeNumbers>(8));
      if (group.rank() == 0) seen[world - 1] = numbers_of(*net);
    });
    EXPECT_WORLD_OK(outcome);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], numbers_of(Tied()));
}

TEST(Trainer, ClippingByNormScalesTheMeanGradient) {
  const auto data = std::make_shared<WholeNumbers>(16);
  TrainerOptions options = exact_options();
  options.optimizer.momentum = 0;
  std::vector<double> norms;
  options.clip_grad_norm = 1e9;
  options.on_step = [&](const StepReport& step) { norms.push_back(*step.gradient_norm); };
  const auto before = numbers_of(*exact_linear());
  const Result0 free = trained(1, exact_model(), options, data);
  options.clip_grad_norm = norms[0] / 4;
  const Result0 clipped = trained(1, exact_model(), options, data);
  double square_sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double moved = free.parameters[i] - before[i];
    square_sum += moved * moved;
    EXPECT_NEAR((clipped.parameters[i] - before[i]) * 4, moved, 1e-6 * std::abs(moved) + 1e-7);
  }
  EXPECT_NEAR(std::sqrt(square_sum), norms[0] * 0.0625, 1e-5);
}

// Otherwise a run that is resumed, and so begins with the buckets of a later step, would clip otherwise.
TEST(Trainer, NormsDoNotDependOnBuckets) {
  std::vector<std::vector<double>> norms;
  for (const std::size_t bucket_bytes : {std::size_t{64}, std::size_t{256}, std::size_t{4} << 20}) {
    std::vector<std::vector<double>> seen(3);
    const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      TrainerOptions options{.clip_grad_norm = 0.5, .batch_size = 12, .epochs = 2};
      options.bucket_bytes = bucket_bytes;
      options.on_step = [&](const StepReport& step) {
        seen[static_cast<std::size_t>(group.rank())].push_back(*step.gradient_norm);
      };
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      trainer.fit(std::make_shared<RoughNumbers>(48));
    });
    EXPECT_WORLD_OK(outcome);
    norms.push_back(seen[0]);
  }
  ASSERT_EQ(norms[0].size(), 8u);
  EXPECT_EQ(norms[0], norms[1]);
  EXPECT_EQ(norms[0], norms[2]);
}

TEST(Trainer, AStepThatIsNotFiniteIsSkippedWhereThatIsAsked) {
  const auto data = std::make_shared<WholeNumbers>(32);
  TrainerOptions options = exact_options();
  options.skip_non_finite = true;
  options.shuffle = false;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Objective inner = squared_error(layer);
    std::vector<StepReport> steps;
    std::vector<std::vector<float>> seen;
    TrainerOptions mine = options;
    mine.on_step = [&](const StepReport& step) {
      steps.push_back(step);
      seen.push_back(numbers_of(*layer));
    };
    Trainer trainer(
        group, arena, layer.ptr(),
        [&](const Batch& batch) {
          Evaluation evaluation = inner(batch);
          if (batch.samples.front() == 16) evaluation.loss = evaluation.loss * std::nan("");
          return evaluation;
        },
        mine);
    trainer.fit(data);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_FALSE(steps[0].skipped);
    EXPECT_TRUE(steps[1].skipped);
    EXPECT_EQ(seen[0], seen[1]);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Trainer, RunningMeansDoNotDependOnTheWorld) {
  const auto data = std::make_shared<RoughNumbers>(64);
  std::vector<std::vector<float>> means;
  for (const int world : {1, 2, 4}) {
    std::vector<float> seen;
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto net = with_fixed_numbers(
          torch::nn::Sequential(torch::nn::BatchNorm1d(6), torch::nn::Tanh(), torch::nn::Linear(6, 3)));
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net),
                      {.optimizer = {.learning_rate = 0.1},
                       .batch_size = 32,
                       .micro_batches = 4,
                       .epochs = 2,
                       .deterministic = Deterministic::kAnyWorld});
      trainer.fit(data);
      if (group.rank() != group.size() - 1) return;
      const at::Tensor mean = net->named_buffers()["0.running_mean"];
      seen.assign(mean.const_data_ptr<float>(), mean.const_data_ptr<float>() + 6);
      EXPECT_EQ(net->named_buffers()["0.num_batches_tracked"].item<std::int64_t>(), 4);
    });
    EXPECT_WORLD_OK(outcome);
    means.push_back(seen);
  }
  EXPECT_EQ(means[0].size(), 6u);
  EXPECT_NE(means[0][0], 0.0f);
  EXPECT_EQ(means[1], means[0]);
  EXPECT_EQ(means[2], means[0]);
}

}  // namespace
}  // namespace cohort::test
