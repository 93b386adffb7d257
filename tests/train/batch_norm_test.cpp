// Training with batch normalisation over all ranks.

#include "layout/batch_plan.h"
#include "train/small_norms.h"
#include "train/training_world.h"
#include <cohort/data_parallel.h>
#include <cohort/trainer.h>

#include <gtest/gtest.h>
#include <numeric>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

constexpr std::int64_t kSamples = 18;
constexpr std::int64_t kBatch = 16;  // the second one has 2 samples
constexpr double kRate = 0.25;

TrainerOptions options_for(int micro_batches) {
  return {.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = kRate, .momentum = 0},
          .batch_size = kBatch,
          .micro_batches = micro_batches,
          .epochs = 1,
          .shuffle = false};
}

/// The samples that are normalised together in turn `turn` of a step: those of one micro-batch of each rank.
std::vector<std::int64_t> together(const BatchPlan& plan, int world, std::uint64_t step, std::size_t turn) {
  std::vector<std::int64_t> samples;
  for (int rank = 0; rank < world; ++rank) {
    const std::vector<int> slots = deal(plan.slots(), world, rank);
    if (turn >= slots.size()) continue;
    const IndexRange range = plan.indices({0, step, slots[turn]});
    for (std::uint64_t i = range.first; i < range.last; ++i) samples.push_back(static_cast<std::int64_t>(i));
  }
  return samples;
}

/// The training of one process, with a forward of torch's layer for each turn.
std::shared_ptr<LocalNet> expected_for(int world, int micro_batches) {
  auto net = std::make_shared<LocalNet>();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(kRate));
  const RoughNumbers data(kSamples);
  const BatchPlan plan(kSamples, kBatch, micro_batches);
  for (std::uint64_t step = 0; step < plan.steps_per_epoch(); ++step) {
    const auto weight = static_cast<double>(plan.batch_size(step));
    std::vector<at::Tensor> start, mean;
    for (const at::Tensor& buffer : net->buffers()) {
      start.push_back(buffer.clone());
      mean.push_back(at::zeros_like(buffer, at::kDouble));
    }
    optimizer.zero_grad();
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(micro_batches); ++turn) {
      const std::vector<std::int64_t> samples = together(plan, world, step, turn);
      if (samples.empty()) continue;
      const at::NoGradGuard for_buffers;
      for (std::size_t b = 0; b < start.size(); ++b) net->buffers()[b].copy_(start[b]);
      {
        const at::AutoGradMode on(true);
        const Batch batch = data.batch(samples);
        (cross_entropy(net)(batch).loss / weight).backward();
      }
      for (std::size_t b = 0; b < start.size(); ++b) {
        mean[b] += net->buffers()[b] * (static_cast<double>(samples.size()) / weight);
      }
    }
    optimizer.step();
    const at::NoGradGuard no_grad;
    for (std::size_t b = 0; b < start.size(); ++b) net->buffers()[b].copy_(mean[b].round(/*decimals=*/9));
  }
  return net;
}

void expect_close(const torch::nn::Module& found, const torch::nn::Module& expected,
                  const std::string& where) {
  for (const auto& each : expected.named_parameters()) {
    EXPECT_TRUE(at::allclose(found.named_parameters()[each.key()], each.value(), 1e-5, 1e-6))
        << where << ": " << each.key();
  }
  for (const auto& each : expected.named_buffers()) {
    EXPECT_TRUE(at::allclose(found.named_buffers()[each.key()], each.value(), 1e-5, 1e-6))
        << where << ": " << each.key() << "\n"
        << found.named_buffers()[each.key()] << "\n"
        << each.value();
  }
}

std::vector<float> buffers_of_rank_0(Communicator& group, const torch::nn::Module& net) {
  at::Tensor all =
      at::cat({net.named_buffers()["norm.running_mean"], net.named_buffers()["norm.running_var"]});
  value_or_throw(group.run(
      broadcast(Numbers(all.mutable_data_ptr(), static_cast<std::size_t>(all.numel()), DType::kF32), 0)));
  return {all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel()};
}

std::vector<float> own_buffers(const torch::nn::Module& net) {
  const at::Tensor all =
      at::cat({net.named_buffers()["norm.running_mean"], net.named_buffers()["norm.running_var"]});
  return {all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel()};
}

/// Ranks with several micro-batches, with one more or fewer than others, and with empty ones.
TEST(SynchronisedTraining, AStepIsThatOfOneProcess) {
  for (const auto& [ranks, parts] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 2}, {2, 3}, {2, 5}, {3, 4}}) {
    const int world = ranks, micro_batches = parts;
    const std::string where = fmt::format("{} ranks, {} micro-batches", world, micro_batches);
    const auto expected = expected_for(world, micro_batches);
    const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
      auto net = std::make_shared<SyncedNet>();
      Trainer trainer(group, arena, net, cross_entropy(net), options_for(micro_batches));
      const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(kSamples));
      EXPECT_EQ(report.steps, 2);
      expect_close(*net, *expected, where);
      EXPECT_EQ(own_buffers(*net), buffers_of_rank_0(group, *net)) << where;
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(SynchronisedTraining, StagesComputeTheSame) {
  const auto expected = expected_for(2, 3);
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    struct Unfolded : torch::nn::Module {
      Unfolded() : layer(register_module("layer", nn::SyncBatchNorm1d(2))) {}
      at::Tensor forward(const at::Tensor& input) {
        return layer->forward(input.view({input.size(0), 2, 3})).view({input.size(0), 6});
      }
      nn::SyncBatchNorm1d layer;
    };
    const auto net = std::make_shared<SyncedNet>();
    auto norm = std::make_shared<Unfolded>();
    {
      const at::NoGradGuard no_grad;
      norm->layer->weight.copy_(net->norm->weight);
      norm->layer->bias.copy_(net->norm->bias);
    }
    const Stages stages({net->first, norm, net->last});
    const auto loss = [](const at::Tensor& output, const Batch& batch) {
      return Evaluation{.loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::Sum),
                        .weight = static_cast<double>(batch.samples.size())};
    };
    Trainer trainer(group, arena, stages, loss, nullptr, options_for(3));
    trainer.fit(std::make_shared<RoughNumbers>(kSamples));
    EXPECT_TRUE(at::allclose(net->first->weight, expected->first->weight, 1e-5, 1e-6));
    EXPECT_TRUE(at::allclose(norm->layer->weight, expected->norm->weight, 1e-5, 1e-6));
    EXPECT_TRUE(at::allclose(norm->layer->running_var, expected->norm->running_var, 1e-5, 1e-6));
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SynchronisedTraining, AFailureInForwardIsToldToRanksThatWaitInALayer) {
  for (const int micro_batches : {3, 5}) {
    const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
      auto net = std::make_shared<SyncedNet>();
      int num_calls = 0;
      const int rank = group.rank();
      const Objective objective = [&, rank](const Batch& batch) {
        if (rank == 1 && ++num_calls == 2) throw std::runtime_error("planted");
        return cross_entropy(net)(batch);
      };
      Trainer trainer(group, arena, net, objective, options_for(micro_batches));
      try {
        trainer.fit(std::make_shared<RoughNumbers>(kSamples));
        ADD_FAILURE() << "rank " << rank << " did not notice";
      } catch (const std::exception& error) {
        EXPECT_NE(std::string(error.what()).find("planted"), std::string::npos)
            << rank << ": " << error.what();
      }
    });
    EXPECT_WORLD_OK(outcome);
  }
}

std::string refusal_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SynchronisedTraining, BitsOfAnyWorldAreRefused) {
  const auto outcome = run_training(2, [](Communicator& group, Arena& arena) {
    auto net = std::make_shared<SyncedNet>();
    TrainerOptions options = options_for(2);
    options.deterministic = Deterministic::kAnyWorld;
    const std::string text = refusal_of([&] { Trainer(group, arena, net, cross_entropy(net), options); });
    EXPECT_NE(text.find("synchronised batch normalisation"), std::string::npos) << text;
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(SynchronisedTraining, ARankWithLocalLayersIsNamed) {
  for (const bool by_trainer : {true, false}) {
    const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
      const auto train = [&](auto net) {
        if (!by_trainer) return DataParallel(group, arena, *net), void();
        Trainer(group, arena, net, cross_entropy(net), options_for(3));
      };
      const std::string text = refusal_of([&] {
        group.rank() == 2 ? train(std::make_shared<LocalNet>()) : train(std::make_shared<SyncedNet>());
      });
      EXPECT_NE(text.find("rank 2 has another number of SyncBatchNorm layers"), std::string::npos) << text;
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(SynchronisedTraining, AfterTheTrainerALayerHasNoGroup) {
  const auto outcome = run_training(2, [](Communicator& group, Arena& arena) {
    auto net = std::make_shared<SyncedNet>();
    { Trainer trainer(group, arena, net, cross_entropy(net), options_for(2)); }
    EXPECT_NE(refusal_of([&] {
                net->forward(at::ones({2, 6}));
              }).find("no group of ranks"),
              std::string::npos);
    Trainer again(group, arena, net, cross_entropy(net), options_for(2));
    again.fit(std::make_shared<RoughNumbers>(kSamples));
  });
  EXPECT_WORLD_OK(outcome);
}

/// A loop of the user's own: ranks with 5, 0 and 2 samples, and a step of two accumulated backwards.
TEST(SynchronisedTraining, ALoopOfTheUsersOwn) {
  const auto outcome = run_training(3, [](Communicator& group, Arena& arena) {
    auto expected = std::make_shared<LocalNet>();
    auto net = std::make_shared<SyncedNet>();
    DataParallel parallel(group, arena, *net);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(kRate));
    torch::optim::SGD expected_optimizer(expected->parameters(), torch::optim::SGDOptions(kRate));
    const std::int64_t cuts[] = {0, 5, 5, 7};
    const auto batch_from = [](std::int64_t first, std::int64_t last) {
      std::vector<std::int64_t> samples(static_cast<std::size_t>(last - first));
      std::iota(samples.begin(), samples.end(), first);
      if (!samples.empty()) return RoughNumbers(100).batch(samples);
      return Batch{
          .input = at::zeros({0, 6}), .target = at::zeros({0}, at::kLong), .samples = {}, .others = {}};
    };
    for (std::int64_t step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      expected_optimizer.zero_grad();
      for (std::int64_t part = 0; part < 2; ++part) {
        const std::int64_t first = (2 * step + part) * 7;
        cross_entropy(expected)(batch_from(first, first + 7)).loss.backward();
        const auto guard = part == 0 ? std::make_unique<DataParallel::Accumulation>(parallel) : nullptr;
        const Batch own = batch_from(first + cuts[group.rank()], first + cuts[group.rank() + 1]);
        (cross_entropy(net)(own).loss * group.size()).backward();  // gradients become means over ranks
      }
      optimizer.step();
      expected_optimizer.step();
    }
    expect_close(*net, *expected, fmt::format("rank {}", group.rank()));
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
