// Averages of parameters during training.

#include "state/safetensors.h"
#include "storage/local_file_system.h"
#include "storage/temporary_directory.h"
#include "train/small_models.h"
#include "train/small_norms.h"
#include "train/training_world.h"
#include "update/average.h"
#include <cohort/model_file.h>

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <torch/optim/adamw.h>

namespace cohort::test {
namespace {

/// A convolution whose weight is in memory with channels last.
torch::nn::Sequential channels_last_net() {
  torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(2, 4, {2, 1}));
  auto net = with_fixed_numbers(
      torch::nn::Sequential(torch::nn::Unflatten(torch::nn::UnflattenOptions(1, {2, 3, 1})), convolution,
                            torch::nn::Flatten(), torch::nn::Linear(8, 3)));
  convolution->weight.set_data(convolution->weight.detach().contiguous(at::MemoryFormat::ChannelsLast));
  return net;
}

constexpr AverageOptions kEma{.kind = AverageKind::kEma, .decay = 0.75};
constexpr AverageOptions kSwa{.kind = AverageKind::kSwa, .start = 2, .every = 3};

TrainerOptions averaging(const AverageOptions& average) {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.05, .weight_decay = 0.1},
          .average = average,
          .batch_size = 8,
          .epochs = 2,
          .bucket_bytes = 256};
}

/// The averages that follow from the parameters after each update.
class Followed {
 public:
  explicit Followed(const AverageOptions& options) : options_(options) {}

  void add(const std::vector<float>& parameters) {
    average.resize(parameters.size());
    if (!update::is_average_due(options_, ++num_updates_)) return;
    const double share = update::average_share(options_, num_averages++);
    update::add_to_average(parameters.data(), average.data(), parameters.size(), share);
  }

  std::vector<float> average{};
  std::int64_t num_averages = 0;

 private:
  const AverageOptions options_;
  std::int64_t num_updates_ = 0;
};

std::vector<float> averages_in(Trainer& trainer, const torch::nn::Module& module) {
  std::vector<float> averages;
  trainer.with_averages([&] { averages = numbers_of(module); });
  return averages;
}

void expect_averages_of_steps(Communicator& group, Arena& arena, TrainerOptions options,
                              torch::optim::Optimizer* optimizer = nullptr,
                              torch::nn::Sequential net = nullptr) {
  if (!net) net = small_net();
  Followed followed(options.average);
  options.on_step = [&](const StepReport& step) {
    if (!step.skipped) followed.add(numbers_of(*net));
  };
  Trainer trainer(group, arena, net.ptr(), cross_entropy(net), optimizer, options);
  const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(43));
  const std::vector<float> trained = numbers_of(*net);
  EXPECT_EQ(report.averages, followed.num_averages);
  EXPECT_GT(report.averages, 1);
  EXPECT_EQ(averages_in(trainer, *net), followed.average);
  EXPECT_NE(followed.average, trained);
  EXPECT_EQ(numbers_of(*net), trained);
}

TEST(Averages, AreThoseOfTheParametersAfterEachUpdate) {
  for (const int world : {1, 2, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      for (const AverageOptions& average :
           {kEma, kSwa, AverageOptions{.kind = AverageKind::kEma, .warmup = true, .every = 2}}) {
        TrainerOptions options = averaging(average);
        expect_averages_of_steps(group, arena, options);
        expect_averages_of_steps(group, arena, options, nullptr, channels_last_net());
        options.clip_grad_norm = 0.1;  // the update waits for the vote
        expect_averages_of_steps(group, arena, options);
        options.one_copy = false;
        expect_averages_of_steps(group, arena, options);
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Averages, FollowAnOptimizerOfTorchToo) {
  for (const int world : {1, 2, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      for (const AverageOptions& average : {kEma, kSwa}) {
        auto net = small_net();
        torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(0.05));
        TrainerOptions options = averaging(average);
        options.optimizer = {};
        expect_averages_of_steps(group, arena, options, &optimizer, net);
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

std::vector<float> averages_of_world(int world, const TrainerOptions& options) {
  std::vector<float> averages;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(43));
    const std::vector<float> mine = averages_in(trainer, *net);
    if (group.rank() == world - 1) averages = mine;
  });
  EXPECT_WORLD_OK(outcome);
  return averages;
}

TEST(Averages, HaveTheSameBitsInAnyWorld) {
  for (const AverageOptions& average : {kEma, kSwa}) {
    TrainerOptions options = averaging(average);
    options.deterministic = Deterministic::kAnyWorld;
    options.micro_batches = 4;
    const std::vector<float> one = averages_of_world(1, options);
    EXPECT_EQ(averages_of_world(2, options), one);
    EXPECT_EQ(averages_of_world(4, options), one);
    options.one_copy = false;
    options.clip_grad_norm = 1e6;
    EXPECT_EQ(averages_of_world(4, options), one);
  }
}

TEST(Averages, DoNotCountSkippedSteps) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    Followed followed(kSwa);
    TrainerOptions options = averaging(kSwa);
    options.skip_non_finite = true;
    int calls = 0, skipped = 0;
    options.on_step = [&](const StepReport& step) {
      skipped += step.skipped ? 1 : 0;
      if (!step.skipped) followed.add(numbers_of(*net));
    };
    const Objective inner = cross_entropy(net);
    const Objective sometimes = [&](const Batch& batch) {
      Evaluation result = inner(batch);
      if (group.rank() == 1 && ++calls % 3 == 2) result.loss = result.loss * std::nan("");
      return result;
    };
    Trainer trainer(group, arena, net.ptr(), sometimes, options);
    const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(64));
    EXPECT_GT(skipped, 2);
    EXPECT_EQ(report.averages, followed.num_averages);
    EXPECT_EQ(averages_in(trainer, *net), followed.average);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Averages, OfUnusedAndFrozenParametersAreTheParameters) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = std::make_shared<ThreeLayers>();
    TrainerOptions options = exact_options();
    options.average = kEma;
    options.groups = {{.patterns = {"other.*"}, .frozen = true}};
    Trainer trainer(group, arena, net, squared_error(net->used), options);
    trainer.fit(std::make_shared<WholeNumbers>(64));
    trainer.with_averages([&] {
      EXPECT_EQ(numbers_of(*net->nobodys), numbers_of(*exact_linear()));
      EXPECT_EQ(numbers_of(*net->other), numbers_of(*exact_linear()));
      EXPECT_NE(numbers_of(*net->used), numbers_of(*exact_linear()));
    });
  });
  EXPECT_WORLD_OK(outcome);
}

/// The pieces of this rank with this ending, as f32.
std::map<std::string, std::vector<float>> pieces_of(Trainer& trainer, const std::string& ending) {
  std::map<std::string, std::vector<float>> found;
  trainer.visit_state([&](const Piece& piece) {
    if (!piece.name.ends_with(ending)) return;
    const auto* const first = reinterpret_cast<const float*>(piece.bytes.data());
    auto& all = found[piece.name.substr(0, piece.name.size() - ending.size())];
    all.insert(all.end(), first, first + piece.bytes.size() / sizeof(float));
  });
  return found;
}

TEST(Averages, OfNarrowParametersAreThoseOfTheMasters) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    TrainerOptions options = averaging(kEma);
    options.precision = {.compute = ComputeType::kBF16, .parameters = DType::kBF16};
    options.steps = 1;
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    std::map<std::string, Followed> followed;
    for (int step = 0; step < 5; ++step) {
      trainer.fit(std::make_shared<RoughNumbers>(43));
      for (const auto& [name, master] : pieces_of(trainer, "/master")) {
        followed.try_emplace(name, kEma).first->second.add(master);
      }
    }
    const auto averages = pieces_of(trainer, "/average");
    ASSERT_EQ(followed.size(), 2u);  // of the matrices: biases are f32
    for (const auto& [name, each] : followed) EXPECT_EQ(averages.at(name), each.average) << name;
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Averages, StandInForTheParametersInEvaluations) {
  for (const int world : {1, 2, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      const TemporaryDirectory folder;
      auto net = small_net();
      TrainerOptions options = averaging(kEma);
      options.average.evaluate = true;
      std::vector<float> at_best, now;
      const RoughNumbers test(29);
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      const TrainingReport report =
          trainer.fit(std::make_shared<RoughNumbers>(43), std::make_shared<RoughNumbers>(29));
      auto other = small_net();
      TrainerOptions plain = averaging({});
      const std::vector<float> averages = averages_in(trainer, *net);
      {
        const at::NoGradGuard no_grad;
        trainer.with_averages([&] {
          for (std::size_t p = 0; p < net->parameters().size(); ++p) {
            other->parameters()[p].copy_(net->parameters()[p]);
          }
        });
      }
      ASSERT_EQ(numbers_of(*other), averages);
      Trainer of_averages(group, arena, other.ptr(), cross_entropy(other), plain);
      EXPECT_EQ(report.last->loss, of_averages.evaluate(test).loss);
      EXPECT_EQ(trainer.evaluate(test).loss, report.last->loss);
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Averages, AreAFileOfTheirOwnAndTheBestModelIfEvaluated) {
  for (const bool evaluate : {false, true}) {
    const TemporaryDirectory folder;
    const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      TrainerOptions options = averaging(kEma);
      options.average.evaluate = evaluate;
      options.directory = folder.path();
      options.epochs = 1;  // one evaluation, which is the best
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
      trainer.fit(std::make_shared<RoughNumbers>(43), std::make_shared<RoughNumbers>(29));
      const std::vector<float> averages = averages_in(trainer, *net), trained = numbers_of(*net);
      const auto in_file = [&](const std::string& name) {
        auto read = small_net();
        load_model(*read, folder.path() + "/" + name);
        return numbers_of(*read);
      };
      EXPECT_EQ(in_file("average.safetensors"), averages);
      EXPECT_EQ(in_file("last.safetensors"), trained);
      EXPECT_EQ(in_file("best.safetensors"), evaluate ? averages : trained);
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Averages, BeforeTheirStartThereAreNone) {
  const TemporaryDirectory folder;
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    TrainerOptions options = averaging({.kind = AverageKind::kSwa, .start = 1000, .evaluate = true});
    options.directory = folder.path();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    const auto report = trainer.fit(std::make_shared<RoughNumbers>(43), std::make_shared<RoughNumbers>(29));
    EXPECT_EQ(report.averages, 0);
    EXPECT_TRUE(report.last);  // of the parameters
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/average.safetensors"));
  const auto refused = run_training(1, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), averaging(kSwa));
    EXPECT_THROW(trainer.with_averages([] { FAIL(); }), UsageError);
  });
  EXPECT_WORLD_OK(refused);
}

TEST(Averages, AFailureAmidAnEvaluationLeavesTheTrainedParameters) {
  for (const int failing : {0, 1, 2}) {
    std::vector<std::vector<float>> left(3), trained(3);
    (void)run_training(3, [&](Communicator& group, Arena& arena) {
      const auto rank = static_cast<std::size_t>(group.rank());
      auto net = small_net();
      TrainerOptions options = averaging(kEma);
      options.average.evaluate = true;
      options.on_step = [&](const StepReport&) { trained[rank] = numbers_of(*net); };
      const Objective inner = cross_entropy(net);
      const Objective objective = [&](const Batch& batch) {
        if (!net->is_training()) {
          EXPECT_NE(numbers_of(*net), trained[rank]);  // the averages stand in
          if (group.rank() == failing) throw std::runtime_error("this rank has had enough");
        }
        return inner(batch);
      };
      Trainer trainer(group, arena, net.ptr(), objective, options);
      EXPECT_ANY_THROW(trainer.fit(std::make_shared<RoughNumbers>(43), std::make_shared<RoughNumbers>(257)));
      left[rank] = numbers_of(*net);
    });
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_FALSE(left[rank].empty());
      EXPECT_EQ(left[rank], trained[rank]) << failing << " " << rank;
    }
  }
}

/// Means over batches of the statistics that a forward of torch finds, with the averages as parameters.
template <class Net>
std::vector<double> expected_statistics(const Net& net, std::int64_t samples, std::int64_t batch) {
  const at::NoGradGuard no_grad;
  LocalNet local;
  for (const auto& each : net.named_parameters()) {
    local.named_parameters()[each.key()].copy_(each.value());
  }
  const RoughNumbers data(samples);
  at::Tensor mean = at::zeros({2}, at::kDouble), variance = at::zeros({2}, at::kDouble);
  std::int64_t num_batches = 0;
  for (std::int64_t first = 0; first < samples; first += batch, ++num_batches) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = first; i < std::min(samples, first + batch); ++i) indices.push_back(i);
    const at::Tensor input = data.batch(indices).input;
    const at::Tensor channels = local.first->forward(input).view({input.size(0), 2, 3}).to(at::kDouble);
    mean += channels.mean({0, 2});
    variance += channels.var({0, 2}, /*unbiased=*/true);
  }
  const at::Tensor both = at::cat({mean, variance}) / static_cast<double>(num_batches);
  return {both.const_data_ptr<double>(), both.const_data_ptr<double>() + 4};
}

std::vector<float> statistics_of(const torch::nn::Module& net) {
  std::vector<float> all;
  for (const auto& buffer : net.named_buffers()) {
    const at::Tensor flat = buffer.value().to(at::kFloat).contiguous();
    all.insert(all.end(), flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  }
  return all;
}

template <class Net>
std::vector<float> computed_statistics(int world) {
  std::vector<float> computed;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto net = std::make_shared<Net>();
    TrainerOptions options = averaging({.kind = AverageKind::kSwa, .update_bn = true});
    if (std::is_same_v<Net, LocalNet>) options.deterministic = Deterministic::kAnyWorld;
    options.micro_batches = 4;
    Trainer trainer(group, arena, net, cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(150));
    const std::vector<float> before = statistics_of(*net);
    trainer.with_averages([&] {
      const std::vector<float> found = statistics_of(*net);
      ASSERT_EQ(found.size(), 5u);
      const std::vector<double> expected = expected_statistics(*net, 150, 64);
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
      EXPECT_EQ(found[4], 3);  // batches
      EXPECT_NE(found, before);
      if (group.rank() == 0) computed = found;
    });
    EXPECT_EQ(statistics_of(*net), before);
    EXPECT_TRUE(net->norm->is_training());
    trainer.fit(std::make_shared<RoughNumbers>(150));  // the layers still train
  });
  EXPECT_WORLD_OK(outcome);
  return computed;
}

TEST(Averages, GetBatchStatisticsOfTheirOwn) {
  const std::vector<float> one = computed_statistics<LocalNet>(1);
  EXPECT_EQ(computed_statistics<LocalNet>(2), one);
  EXPECT_EQ(computed_statistics<LocalNet>(4), one);
  computed_statistics<SyncedNet>(1);
  computed_statistics<SyncedNet>(3);
}

TEST(Averages, ALastSampleAloneJoinsTheBatchBefore) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    const auto net = std::make_shared<Normed<torch::nn::BatchNorm1d>>();
    TrainerOptions options = averaging({.kind = AverageKind::kEma, .update_bn = true});
    options.batch_size = 64;
    Trainer trainer(group, arena, net, cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(129));
    trainer.with_averages([&] { EXPECT_EQ(net->norm->num_batches_tracked.item<std::int64_t>(), 2); });
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Averages, StatisticsThatNoLayerHasAreRefused) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    const TrainerOptions options = averaging({.kind = AverageKind::kSwa, .update_bn = true});
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    EXPECT_THROW(trainer.fit(std::make_shared<RoughNumbers>(43)), UsageError);
  });
  (void)outcome;
  const auto kinds = run_training(1, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    EXPECT_THROW(Trainer(group, arena, net.ptr(), cross_entropy(net), averaging({.evaluate = true})),
                 UsageError);
  });
  EXPECT_WORLD_OK(kinds);
}

}  // namespace
}  // namespace cohort::test
