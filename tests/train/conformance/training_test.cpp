// Training on every kind of communicator. Ranks may be threads or processes, so each rank checks its own
// results. Numbers are whole and small: sums are exact in any order, and several ranks must have the bits of
// one.

#include "train/conformance/training.h"

#include "comm/shared_memory/arena.h"
#include "train/small_models.h"
#include "train/small_norms.h"

#include <ATen/Parallel.h>
#include <cohort/data_parallel.h>
#include <map>
#include <numeric>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

using Body = std::function<void(Communicator& group, Arena& arena)>;

// Runs the body on every rank with an arena: that of the communicator, if it has one.
SeatBody with_arena(const Body& body) {
  return [body](Seat& seat) -> Status {
    at::set_num_threads(1);
    std::unique_ptr<Arena> own;
    if (seat.arena == nullptr) {
      COHORT_ASSIGN_OR_RETURN(own, Arena::create(std::size_t{64} << 20));
    }
    body(*seat, seat.arena != nullptr ? *seat.arena : *own);
    return {};
  };
}

using Pair = std::pair<std::shared_ptr<torch::nn::Module>, Objective>;

struct Trained {
  std::vector<float> numbers;
  TrainingReport report;
};

Trained train(Communicator& group, Arena& arena, const Pair& pair, const TrainerOptions& options,
              std::int64_t samples) {
  Trainer trainer(group, arena, pair.first, pair.second, options);
  Trained trained;
  trained.report = trainer.fit(std::make_shared<WholeNumbers>(samples));
  trained.numbers = numbers_of(*pair.first);
  return trained;
}

// The same training by this rank alone.
Trained train_alone(Communicator& group, Arena& arena, const Pair& pair, const TrainerOptions& options,
                    std::int64_t samples) {
  const auto alone = value_or_throw(group.split(group.rank(), 0, "alone"));
  return train(*alone, arena, pair, options, samples);
}

Pair exact_pair() {
  auto layer = exact_linear();
  return {layer.ptr(), squared_error(layer)};
}

std::vector<TrainerOptions> ways_to_update() {
  std::vector<TrainerOptions> ways;
  ways.push_back(exact_options());
  ways.push_back(exact_options());
  ways.back().one_copy = false;
  ways.push_back(exact_options());
  ways.back().clip_grad_norm = 1e6;  // updates wait for the vote
  ways.push_back(exact_options());
  ways.back().clip_grad_norm = 1e6;
  ways.back().one_copy = false;
  ways.push_back(exact_options());
  ways.back().deterministic = Deterministic::kAnyWorld;
  ways.back().micro_batches = 4;
  return ways;
}

TEST_P(Training, SeveralRanksAreOneRankOnTheWhole) {
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          for (const TrainerOptions& options : ways_to_update()) {
            if (options.deterministic == Deterministic::kAnyWorld && group.size() == 3) continue;
            const Trained together = train(group, arena, exact_pair(), options, 23);  // 16 and 7
            const Trained alone = train_alone(group, arena, exact_pair(), options, 23);
            EXPECT_EQ(together.report.steps, 2);
            EXPECT_EQ(together.numbers, alone.numbers);
            EXPECT_EQ(together.report.loss, alone.report.loss);
            EXPECT_NE(together.numbers, numbers_of(*exact_pair().first));
          }
        }));
  }
}

TEST_P(Training, AveragesAndMasksOfSeveralRanksAreThoseOfOne) {
  const auto averages_of = [](Communicator& group, Arena& arena, const TrainerOptions& options) {
    const Pair pair = exact_pair();
    Trainer trainer(group, arena, pair.first, pair.second, options);
    EXPECT_EQ(trainer.fit(std::make_shared<WholeNumbers>(39)).masked, 1);
    std::vector<float> numbers;
    trainer.with_averages([&] { numbers = numbers_of(*pair.first); });
    return numbers;
  };
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([&](Communicator& group, Arena& arena) {
          for (TrainerOptions options : ways_to_update()) {
            if (options.deterministic == Deterministic::kAnyWorld && group.size() == 3) continue;
            options.average = {.kind = AverageKind::kEma, .decay = 0.5};
            options.mask = {.sparsity = 0.34};
            const std::vector<float> together = averages_of(group, arena, options);
            const auto alone = value_or_throw(group.split(group.rank(), 0, "alone"));
            EXPECT_EQ(together, averages_of(*alone, arena, options));
            EXPECT_EQ(std::count(together.begin(), together.end(), 0.0f), 1);
          }
        }));
  }
}

TEST_P(Training, AGroupOfParametersHasAReducerOfItsOwn) {
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          for (const bool waits : {false, true}) {
            TrainerOptions options = exact_options();
            options.epochs = 2;  // from the second step on, buckets are reduced during backward
            if (waits) options.clip_grad_norm = 1e6;
            const Trained alone = train_alone(group, arena, exact_pair(), options, 32);
            options.groups = {{.patterns = {"bias"}, .reducer = "tree", .synchronizer = "lock_step"}};
            const Trained together = train(group, arena, exact_pair(), options, 32);
            EXPECT_EQ(together.numbers, alone.numbers);
            EXPECT_NE(together.numbers, numbers_of(*exact_pair().first));
          }
        }));
  }
}

TEST_P(Training, StagesHaveTheBitsOfAnObjective) {
  run(2, with_arena([](Communicator& group, Arena& arena) {
        for (TrainerOptions options : ways_to_update()) {
          options.micro_batches = 4;
          auto net = small_net();
          Trainer whole(group, arena, net.ptr(), cross_entropy(net), options);
          const TrainingReport expected = whole.fit(std::make_shared<RoughNumbers>(23));
          auto layers = small_net();
          const Stages stages({layers->ptr<torch::nn::LinearImpl>(0), layers->ptr<torch::nn::TanhImpl>(1),
                               layers->ptr<torch::nn::LinearImpl>(2)});
          const auto loss = [](const at::Tensor& output, const Batch& batch) {
            return Evaluation{.loss = at::cross_entropy_loss(output, batch.target, {}, at::Reduction::Sum),
                              .weight = static_cast<double>(batch.samples.size())};
          };
          Trainer staged(group, arena, stages, loss, nullptr, options);
          const TrainingReport found = staged.fit(std::make_shared<RoughNumbers>(23));
          EXPECT_EQ(numbers_of(*stages.module()), numbers_of(*net));
          EXPECT_EQ(found.loss, expected.loss);
        }
      }));
}

TEST_P(Training, AnOptimizerOfTorch) {
  // Four ranks on two hosts are a grid.
  for (const int world : {2, 4})
    run(world, with_arena([](Communicator& group, Arena& arena) {
          const Pair pair = exact_pair();
          torch::optim::SGD optimizer(pair.first->parameters(),
                                      torch::optim::SGDOptions(0.0625).momentum(0.5));
          TrainerOptions options{.batch_size = 16, .epochs = 1};
          {
            Trainer trainer(group, arena, pair.first, pair.second, &optimizer, options);
            trainer.fit(std::make_shared<WholeNumbers>(32));
          }
          EXPECT_EQ(numbers_of(*pair.first),
                    train_alone(group, arena, exact_pair(), exact_options(), 32).numbers);
        }));
}

/// Passes its input on. Backward looks at the gradient for a while: nobody may change it meanwhile.
struct Watched : torch::autograd::Function<Watched> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& input) {
    return input.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    const at::Tensor before = gradients[0].clone();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (at::equal(gradients[0], before) && std::chrono::steady_clock::now() < until) {
    }
    EXPECT_TRUE(at::equal(gradients[0], before));
    return {before};
  }
};

/// The gradient of `large`, which has several buckets of its own, is a view of a tensor that backward needs
/// again for that of `other`.
struct Viewed : torch::nn::Module {
  Viewed() {
    const at::NoGradGuard no_grad;
    large = register_parameter("large", at::arange(16 * 24, at::kFloat).view({16, 24}).remainder(7) - 3);
    other = register_parameter("other", at::arange(16 * 24, at::kFloat).remainder(5) - 2);
  }
  at::Tensor loss(const Batch& batch) const {
    const at::Tensor passed = Watched::apply(other);
    const at::Tensor sum = passed + large.view(-1);  // backward takes the view first, as it was made last
    return (sum * batch.input.sum() * batch.target.sum()).sum();
  }
  at::Tensor large, other;
};

TEST_P(Training, LargeGradientsAreNotChangedWhileBackwardReadsThem) {
  const auto viewed = [] {
    auto net = std::make_shared<Viewed>();
    return Pair{net, [net](const Batch& batch) {
                  return Evaluation{.loss = net->loss(batch),
                                    .weight = static_cast<double>(batch.samples.size())};
                }};
  };
  for (const int world : {2, 4})
    run(world, with_arena([&](Communicator& group, Arena& arena) {
          TrainerOptions options = exact_options();
          options.epochs = 2;  // from the second step on, buckets are reduced during backward
          options.bucket_bytes = 256;
          for (const bool one_copy : {true, false}) {
            options.one_copy = one_copy;
            const std::vector<float> numbers = train(group, arena, viewed(), options, 32).numbers;
            EXPECT_NE(numbers, numbers_of(*viewed().first));
          }
        }));
}

/// The ranks of the group that share a copy of the parameters with this one: those of its host, if all hosts
/// have as many.
std::size_t num_sharers(const Communicator& group) {
  std::map<int, std::size_t> ranks_of;
  for (const int host : group.hosts()) ++ranks_of[host];
  for (const auto& [host, count] : ranks_of) {
    if (count != ranks_of.begin()->second) return 1;
  }
  return ranks_of.empty() ? 1 : ranks_of.begin()->second;
}

TEST_P(Training, RanksOfAHostShareACopyOfTheParameters) {
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          const Pair pair = exact_pair();
          Trainer trainer(group, arena, pair.first, pair.second, exact_options());
          Trainer apart(group, arena, exact_pair().first, pair.second, {.one_copy = false});
          EXPECT_EQ(trainer.memory().parameters * num_sharers(group), apart.memory().parameters);
          trainer.fit(std::make_shared<WholeNumbers>(32));
          EXPECT_EQ(numbers_of(*pair.first),
                    train_alone(group, arena, exact_pair(), exact_options(), 32).numbers);
        }));
  }
}

TEST_P(Training, AllBeginWithTheParametersOfRank0) {
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          for (const bool one_copy : {true, false}) {
            const Pair pair = exact_pair();
            {
              const at::NoGradGuard no_grad;
              for (at::Tensor& parameter : pair.first->parameters()) parameter += group.rank();
            }
            TrainerOptions options = exact_options();
            options.one_copy = one_copy;
            const Trainer trainer(group, arena, pair.first, pair.second, options);
            EXPECT_EQ(numbers_of(*pair.first), numbers_of(*exact_pair().first)) << "rank " << group.rank();
          }
        }));
  }
}

TEST_P(Training, ALoopOfTheUsersOwn) {
  for (const int world : {2, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          const Pair own = exact_pair();
          DataParallel parallel(group, arena, *own.first, {.bucket_bytes = 64});
          torch::optim::SGD optimizer(own.first->parameters(),
                                      torch::optim::SGDOptions(0.0625).momentum(0.5));
          const WholeNumbers data(64);
          const auto num_ranks = static_cast<std::int64_t>(group.size());
          for (std::int64_t first = 0; first < data.size(); first += 16) {
            std::vector<std::int64_t> part(static_cast<std::size_t>(16 / num_ranks));
            std::iota(part.begin(), part.end(), first + group.rank() * (16 / num_ranks));
            optimizer.zero_grad();
            const Evaluation evaluation = own.second(data.batch(part));
            (evaluation.loss / evaluation.weight).backward();
            optimizer.step();
          }
          TrainerOptions options = exact_options();
          options.shuffle = false;
          EXPECT_EQ(numbers_of(*own.first), train_alone(group, arena, exact_pair(), options, 64).numbers);
        }));
  }
}

TEST_P(Training, AParameterThatNoRankUsesStaysAsItIs) {
  for (const int world : {3, 4})
    run(world, with_arena([](Communicator& group, Arena& arena) {
          auto net = std::make_shared<ThreeLayers>();
          const int rank = group.rank();
          const Objective objective = [net, rank](const Batch& batch) {
            // Rank 1 alone uses the second layer.
            at::Tensor output = net->used->forward(batch.input);
            if (rank == 1) output = output + net->other->forward(batch.input);
            return Evaluation{.loss = (output - batch.target).square().sum(),
                              .weight = static_cast<double>(batch.samples.size())};
          };
          TrainerOptions options = exact_options();
          options.optimizer.weight_decay = 0.5;
          train(group, arena, {net, objective}, options, 36);
          EXPECT_TRUE(at::equal(net->nobodys->weight, exact_linear()->weight));
          EXPECT_FALSE(at::equal(net->other->weight, exact_linear()->weight));
        }));
}

/// A sample counts as many tokens as its first number says.
Pair by_tokens() {
  auto layer = exact_linear();
  return {layer.ptr(), [layer](const Batch& batch) mutable {
            const at::Tensor tokens = batch.input.select(1, 0).abs() + 1;
            const at::Tensor losses = (layer->forward(batch.input) - batch.target).square().squeeze(1);
            return Evaluation{.loss = (losses * tokens).sum(), .weight = tokens.sum().item<double>()};
          }};
}

TEST_P(Training, TokensWeighTheSameInTrainingVoteAndEvaluation) {
  run(2, with_arena([](Communicator& group, Arena& arena) {
        const WholeNumbers data(16);
        std::vector<std::int64_t> all(16);
        std::iota(all.begin(), all.end(), 0);
        for (const bool waits : {false, true}) {
          const Pair expected = by_tokens();
          const Evaluation whole = expected.second(data.batch(all));
          const at::Tensor mean = whole.loss / whole.weight;
          mean.backward();
          TrainerOptions options{
              .optimizer = {.learning_rate = 0.0625, .momentum = 0}, .batch_size = 16, .epochs = 1};
          if (waits) options.clip_grad_norm = 1e6;
          const Pair pair = by_tokens();
          Trainer trainer(group, arena, pair.first, pair.second, options);
          EXPECT_DOUBLE_EQ(trainer.evaluate(data).loss, mean.item<double>());
          const TrainingReport report = trainer.fit(std::make_shared<WholeNumbers>(16));
          EXPECT_DOUBLE_EQ(report.loss, mean.item<double>());
          const at::NoGradGuard no_grad;
          std::vector<at::Tensor> parameters = expected.first->parameters();
          for (at::Tensor& parameter : parameters) parameter -= 0.0625 * parameter.grad();
          for (std::size_t p = 0; p < parameters.size(); ++p) {
            EXPECT_TRUE(at::allclose(pair.first->parameters()[p], parameters[p], 1e-6, 1e-6)) << waits;
          }
        }
      }));
}

TEST_P(Training, WeightsThatAddUpToNothingAreRefused) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  for (const double weight : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    for (const bool waits : {false, true}) {
      run(2, with_arena([&](Communicator& group, Arena& arena) {
            const Pair pair = exact_pair();
            const Objective objective = [&](const Batch& batch) {
              Evaluation evaluation = pair.second(batch);
              evaluation.weight = weight;
              return evaluation;
            };
            TrainerOptions options = exact_options();
            if (waits) options.clip_grad_norm = 1e6;
            Trainer trainer(group, arena, pair.first, objective, options);
            try {
              trainer.fit(std::make_shared<WholeNumbers>(16));
              ADD_FAILURE() << weight << " was taken";
            } catch (const std::exception& error) {
              EXPECT_NE(std::string(error.what()).find("the weights of step 0 add up to"), std::string::npos)
                  << error.what();
            }
          }));
    }
  }
}

TEST_P(Training, AnEmptyParameterIsNoObstacle) {
  struct WithEmpty : torch::nn::Module {
    WithEmpty() {
      layer = register_module("layer", exact_linear());
      empty = register_parameter("empty", at::zeros({0, 3}));
    }
    torch::nn::Linear layer{nullptr};
    at::Tensor empty;
  };
  run(2, with_arena([](Communicator& group, Arena& arena) {
        auto net = std::make_shared<WithEmpty>();
        const Objective objective = [net](const Batch& batch) {
          const at::Tensor output = net->layer->forward(batch.input) + net->empty.sum();
          return Evaluation{.loss = (output - batch.target).square().sum(),
                            .weight = static_cast<double>(batch.samples.size())};
        };
        const Trained trained = train(group, arena, {net, objective}, exact_options(), 32);
        EXPECT_EQ(numbers_of(*net->layer),
                  train_alone(group, arena, exact_pair(), exact_options(), 32).numbers);
        EXPECT_EQ(trained.report.steps, 2);
      }));
}

TEST_P(Training, PartsInEvaluationModeStaySo) {
  run(2, with_arena([](Communicator& group, Arena& arena) {
        auto net = std::make_shared<ThreeLayers>();
        net->other->eval();
        std::vector<bool> seen;
        const Objective objective = [&](const Batch& batch) {
          seen.push_back(net->other->is_training());
          return squared_error(net->used)(batch);
        };
        TrainerOptions options = exact_options();
        options.epochs = 2;
        Trainer trainer(group, arena, net, objective, options);
        trainer.fit(std::make_shared<WholeNumbers>(16), std::make_shared<WholeNumbers>(8));
        EXPECT_EQ(seen, std::vector<bool>(seen.size(), false));
        EXPECT_TRUE(net->is_training());
        EXPECT_TRUE(net->used->is_training());
        EXPECT_FALSE(net->other->is_training());
      }));
}

TEST_P(Training, BatchNormalisationOverAllRanks) {
  for (const int world : {2, 3, 4}) {
    run(world, with_arena([](Communicator& group, Arena& arena) {
          const auto pair = [] {
            auto net = std::make_shared<SyncedNet>();
            return Pair{net, cross_entropy(net)};
          };
          const auto trained = [&](Communicator& ranks) {
            const Pair made = pair();
            Trainer trainer(ranks, arena, made.first, made.second, exact_options());
            trainer.fit(std::make_shared<RoughNumbers>(18));  // 16 and 2: some ranks have none
            std::vector<float> numbers = numbers_of(*made.first);
            const at::Tensor variance = made.first->named_buffers()["norm.running_var"];
            numbers.insert(numbers.end(), variance.const_data_ptr<float>(),
                           variance.const_data_ptr<float>() + variance.numel());
            return numbers;
          };
          const std::vector<float> together = trained(group);
          const auto single = value_or_throw(group.split(group.rank(), 0, "alone"));
          const std::vector<float> alone = trained(*single);
          ASSERT_EQ(together.size(), alone.size());
          for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 2e-6) << i;
        }));
  }
}

TEST_P(Training, AFailureOfOneRankIsToldToAll) {
  COHORT_NEEDS(Ability::kOutlivesFailure);
  for (const int world : {3, 4})
    run(world, with_arena([](Communicator& group, Arena& arena) {
          const Pair pair = exact_pair();
          int num_calls = 0;
          const int rank = group.rank();
          const Objective objective = [&](const Batch& batch) {
            if (rank == 1 && ++num_calls == 2) throw std::runtime_error("planted");
            return pair.second(batch);
          };
          Trainer trainer(group, arena, pair.first, objective, exact_options());
          try {
            trainer.fit(std::make_shared<WholeNumbers>(64));
            ADD_FAILURE() << "rank " << rank << " did not notice";
          } catch (const std::exception& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("planted"), std::string::npos) << rank << ": " << text;
          }
        }));
}

}  // namespace
}  // namespace cohort::test
