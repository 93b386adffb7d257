#include "comm/group/call_trace.h"
#include "solver_problems.h"
#include "training_world.h"

#include <cohort/solver.h>

#include <cmath>
#include <gtest/gtest.h>
#include <map>

// Solvers in loops of users: `cohort::Solver`.

namespace cohort::test {
namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t kNumPoints = 311;
constexpr std::int64_t kNumFeatures = 37;  // of a weight that is longer than a block, so that it is cut

const SolverSettings kLbfgs{.tolerance_grad = 1e-9, .tolerance_change = 0, .weight_decay = 0.01};

/// The parameters after each iteration, on the last rank of `world`.
std::vector<Doubles> logistic_iterates(int world, const SolverSettings& settings, int iterations) {
  std::vector<Doubles> iterates;
  const auto outcome = run_training(world, [&](Communicator& group, Arena&) {
    auto layer = double_linear(kNumFeatures);
    const Points mine = points_of(kNumPoints, kNumFeatures, group.rank(), group.size());
    Solver solver(group, *layer, settings);
    for (int i = 0; i < iterations; ++i) {
      const SolverReport report = solver.step([&] {
        const at::Tensor loss = logistic_loss(layer, mine);
        loss.backward();
        return Evaluation{.loss = loss, .weight = mine.count()};
      });
      if (group.rank() == group.size() - 1) iterates.push_back(doubles_of(*layer));
      if (report.end == SolverEnd::kGradient) break;
    }
  });
  EXPECT_WORLD_OK(outcome);
  return iterates;
}

void expect_same_iterates(const std::vector<Doubles>& found, const std::vector<Doubles>& serial) {
  ASSERT_EQ(found.size(), serial.size());
  for (std::size_t i = 0; i < serial.size(); ++i) {
    for (std::size_t j = 0; j < serial[i].size(); ++j) {
      ASSERT_NEAR(found[i][j], serial[i][j], 1e-12 * std::max(1.0, std::abs(serial[i][j]))) << i << " " << j;
    }
  }
}

TEST(Solver, LbfgsIteratesAreThoseOfOneRank) {
  const auto serial = logistic_iterates(1, kLbfgs, 40);
  EXPECT_GT(serial.size(), 5U);
  for (const int world : {2, 3, 4}) expect_same_iterates(logistic_iterates(world, kLbfgs, 40), serial);
}

TEST(Solver, OwlqnIteratesAreThoseOfOneRankAndHaveZeros) {
  SolverSettings settings = kLbfgs;
  settings.kind = SolverKind::kOwlqn;
  settings.l1 = 0.05;
  const auto serial = logistic_iterates(1, settings, 40);
  EXPECT_GT(std::count(serial.back().begin(), serial.back().end(), 0.0), 3);
  for (const int world : {2, 3, 4}) expect_same_iterates(logistic_iterates(world, settings, 40), serial);
}

// More ranks than samples: some have none, and call no backward.
TEST(Solver, ARankWithoutSamplesTakesPart) {
  const auto train = [](int world) {
    Doubles found;
    EXPECT_WORLD_OK(run_training(world, [&](Communicator& group, Arena&) {
      auto layer = double_linear(2);
      const Points mine = points_of(3, 2, group.rank(), group.size());
      Solver solver(group, *layer, {.max_iterations = 30, .tolerance_grad = 1e-10, .weight_decay = 0.1});
      solver.step([&]() -> Evaluation {
        if (mine.count() == 0) return {.loss = at::zeros({}, at::kDouble)};
        const at::Tensor loss = logistic_loss(layer, mine);
        loss.backward();
        return {.loss = loss, .weight = mine.count()};
      });
      if (group.rank() == 0) found = doubles_of(*layer);
    }));
    return found;
  };
  const Doubles serial = train(1), four = train(4);
  for (std::size_t i = 0; i < serial.size(); ++i) EXPECT_NEAR(four[i], serial[i], 1e-12);
}

/// A network in f64, whose residuals are not linear in its parameters.
torch::nn::Sequential bent_net() {
  torch::nn::Sequential net(torch::nn::Linear(1, 5), torch::nn::Tanh(), torch::nn::Linear(5, 1));
  net->to(torch::kDouble);
  const at::NoGradGuard no_grad;
  std::uint64_t stream = 0;
  for (at::Tensor& parameter : net->parameters()) fill_uniform(parameter, RandomStream(9, stream++), -1, 1);
  return net;
}

struct FittedNet {
  SolverReport report{};
  Doubles parameters{};
  double largest_gradient = 0;  // by backward() over all samples
};

FittedNet fit_bent_net(int world, int steps, const SolverSettings& settings) {
  FittedNet fitted;
  EXPECT_WORLD_OK(run_training(world, [&](Communicator& group, Arena&) {
    auto net = bent_net();
    const at::Tensor x = at::linspace(-2, 2, 41, at::kDouble).view({41, 1}), y = at::sin(x * 1.5) + 0.3 * x;
    const at::Tensor rows = at::arange(group.rank(), 41, group.size());
    const at::Tensor input = x.index_select(0, rows), target = y.index_select(0, rows);
    Solver solver(group, *net, settings);
    for (int step = 0; step < steps; ++step) {
      solver.least_squares_step([&] { return net->forward(input) - target; });
    }
    if (group.rank() != 0) return;
    fitted.report = solver.report();
    fitted.parameters = doubles_of(*net);
    ((net->forward(x) - y).square().sum() / 2).backward();
    for (const at::Tensor& parameter : net->parameters()) {
      fitted.largest_gradient =
          std::max(fitted.largest_gradient, parameter.grad().abs().max().item<double>());
    }
  }));
  return fitted;
}

TEST(Solver, GaussNewtonFitsANetworkToAMinimum) {
  const FittedNet fitted = fit_bent_net(2, 1,
                                        {.kind = SolverKind::kGaussNewton,
                                         .max_iterations = 300,
                                         .max_products = 100,
                                         .tolerance_grad = 1e-6,
                                         .tolerance_change = 0});
  EXPECT_EQ(fitted.report.end, SolverEnd::kGradient);
  EXPECT_LE(fitted.largest_gradient, 1.01e-6);
  EXPECT_LT(fitted.report.loss, 1e-2);
  EXPECT_GT(fitted.report.products, fitted.report.iterations);
}

TEST(Solver, GaussNewtonIteratesAreThoseOfOneRank) {
  const SolverSettings settings{.kind = SolverKind::kGaussNewton, .tolerance_grad = 0, .tolerance_change = 0};
  const FittedNet serial = fit_bent_net(1, 6, settings);
  for (const int world : {2, 3, 4}) {
    const FittedNet found = fit_bent_net(world, 6, settings);
    EXPECT_EQ(found.report.evaluations, serial.report.evaluations);
    for (std::size_t i = 0; i < serial.parameters.size(); ++i) {
      EXPECT_NEAR(found.parameters[i], serial.parameters[i], 1e-10) << world << " " << i;
    }
  }
}

// One reduce-scatter and one all-gather of a vector are the bytes of one all-reduce.
TEST(Solver, AnIterationSendsOneVectorTwiceAndAtMost4KiBOfScalars) {
  constexpr std::int64_t kMany = 3000;
  EXPECT_WORLD_OK(run_training(3, [&](Communicator& group, Arena&) {
    auto layer = double_linear(kMany);
    const Points mine = points_of(31, kMany, group.rank(), group.size());
    const auto trace = std::make_shared<comm::CallTrace>(100000);
    group.set_trace(trace);
    Solver solver(group, *layer, {.tolerance_grad = 0, .tolerance_change = 0, .weight_decay = 1e-6});
    const auto one_step = [&] {
      return solver.step([&] {
        const at::Tensor loss = logistic_loss(layer, mine);
        loss.backward();
        return Evaluation{.loss = loss, .weight = mine.count()};
      });
    };
    SolverReport before = one_step();
    int num_counted = 0;
    for (int i = 0; i < 30; ++i) {
      const std::size_t first = trace->calls().size();
      const SolverReport now = one_step();
      const bool took_first_step = now.evaluations == before.evaluations + 1;
      before = now;
      if (!took_first_step || i < 10) continue;  // the history of 10 is full
      std::map<Operation, int> vectors;
      std::size_t scalar_bytes = 0;
      const std::vector<comm::TracedCall> calls = trace->calls();
      for (std::size_t c = first; c < calls.size(); ++c) {
        if (calls[c].bytes > 6000) {
          ++vectors[calls[c].operation];
        } else {
          scalar_bytes += calls[c].bytes;
        }
      }
      EXPECT_EQ(vectors,
                (std::map<Operation, int>{{Operation::kReduceScatter, 1}, {Operation::kAllGather, 1}}));
      EXPECT_LE(scalar_bytes, 4096U);
      EXPECT_GT(scalar_bytes, 3700U) << "the products of the history are counted";
      ++num_counted;
    }
    EXPECT_GT(num_counted, 3);
    group.set_trace(nullptr);
  }));
}

using Content = std::map<std::string, std::vector<std::byte>>;

TEST(Solver, GoesOnFromItsVisitedState) {
  for (const SolverKind kind : {SolverKind::kLbfgs, SolverKind::kGaussNewton}) {
    EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena&) {
      const Points mine = points_of(kNumPoints, kNumFeatures, group.rank(), group.size());
      const SolverSettings settings{
          .kind = kind, .tolerance_grad = 0, .tolerance_change = 0, .weight_decay = 0.01};
      const auto make_steps = [&](Solver& solver, torch::nn::Linear& layer, int count) {
        for (int i = 0; i < count; ++i) {
          if (kind == SolverKind::kGaussNewton) {
            solver.least_squares_step(
                [&] { return layer->forward(mine.input).flatten().sigmoid() - mine.target; });
            continue;
          }
          solver.step([&] {
            const at::Tensor loss = logistic_loss(layer, mine);
            loss.backward();
            return Evaluation{.loss = loss, .weight = mine.count()};
          });
        }
      };
      auto whole = double_linear(kNumFeatures), first = double_linear(kNumFeatures),
           second = double_linear(kNumFeatures);
      Solver of_whole(group, *whole, settings), of_first(group, *first, settings);
      make_steps(of_whole, whole, 7);
      make_steps(of_first, first, 4);
      Content state;
      of_first.visit_state(
          [&](const Piece& piece) { state[piece.name].assign(piece.bytes.begin(), piece.bytes.end()); });
      Solver of_second(group, *second, settings);
      of_second.visit_state([&](const Piece& piece) {
        const std::vector<std::byte>& bytes = state.at(piece.name);
        std::copy(bytes.begin(), bytes.end(), piece.bytes.begin());
      });
      make_steps(of_second, second, 3);
      EXPECT_EQ(doubles_of(*second), doubles_of(*whole));
      EXPECT_EQ(of_second.report().evaluations, of_whole.report().evaluations);
      EXPECT_EQ(of_second.report().products, of_whole.report().products);
    }));
  }
}

TEST(Solver, BeginsAnewWhenParametersWereChanged) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena&) {
    const Points mine = points_of(kNumPoints, 5, group.rank(), group.size());
    auto moved = double_linear(5), fresh = double_linear(5);
    const auto put = [](torch::nn::Linear& layer) {
      const at::NoGradGuard no_grad;
      layer->weight.fill_(0.25);
      layer->bias.fill_(-1);
    };
    const auto make_step = [&](Solver& solver, torch::nn::Linear& layer) {
      return solver.step([&] {
        const at::Tensor loss = logistic_loss(layer, mine);
        loss.backward();
        return Evaluation{.loss = loss, .weight = mine.count()};
      });
    };
    SolverSettings settings = kLbfgs;
    settings.max_iterations = 3;
    Solver of_moved(group, *moved, settings);
    make_step(of_moved, moved);
    put(moved);
    put(fresh);
    Solver of_fresh(group, *fresh, settings);
    make_step(of_moved, moved);
    make_step(of_fresh, fresh);
    EXPECT_EQ(doubles_of(*moved), doubles_of(*fresh));
  }));
}

// The codes of the errors of all ranks.
std::vector<std::optional<ErrorCode>> codes_of(int world,
                                               const std::function<void(Communicator& group)>& body) {
  std::vector<std::optional<ErrorCode>> codes(static_cast<std::size_t>(world));
  EXPECT_WORLD_OK(run_training(world, [&](Communicator& group, Arena&) {
    try {
      body(group);
    } catch (const Error& error) {
      codes[static_cast<std::size_t>(group.rank())] = error.code();
    }
  }));
  return codes;
}

using Codes = std::vector<std::optional<ErrorCode>>;

// A gradient that leads uphill: every trial is refused, and the parameters are those of the beginning.
TEST(Solver, LeavesTheBestPointWhenItMakesNoProgress) {
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena&) {
    auto layer = double_linear(5);
    const Points mine = points_of(kNumPoints, 5, group.rank(), group.size());
    const Doubles begin = doubles_of(*layer);
    Solver solver(group, *layer, {.max_iterations = 5});
    const SolverReport report = solver.step([&] {
      const at::Tensor loss = logistic_loss(layer, mine);
      (-loss).backward();
      return Evaluation{.loss = loss, .weight = mine.count()};
    });
    EXPECT_EQ(report.end, SolverEnd::kNoProgress);
    EXPECT_EQ(doubles_of(*layer), begin);
  }));
}

TEST(Solver, AnExceptionOfAClosureEndsTheStepOnAllRanks) {
  const Codes codes = codes_of(3, [&](Communicator& group) {
    auto layer = double_linear(2);
    const Points mine = points_of(9, 2, group.rank(), group.size());
    int calls = 0;
    Solver solver(group, *layer, {.max_iterations = 20});
    solver.step([&] {
      if (group.rank() == 1 && ++calls == 3) throw Error(ErrorCode::kIo, "no more samples");
      const at::Tensor loss = logistic_loss(layer, mine);
      loss.backward();
      return Evaluation{.loss = loss, .weight = mine.count()};
    });
  });
  EXPECT_EQ(codes, (Codes{ErrorCode::kAborted, ErrorCode::kIo, ErrorCode::kAborted}));
}

TEST(Solver, ALossThatIsNotFiniteAtFirstIsADivergence) {
  const Codes codes = codes_of(2, [&](Communicator& group) {
    auto layer = double_linear(2);
    Solver solver(group, *layer);
    solver.step([&] {
      const at::Tensor loss = layer->weight.sum() * (group.rank() == 1 ? std::nan("") : 1.0);
      loss.backward();
      return Evaluation{.loss = loss, .weight = 1};
    });
  });
  EXPECT_EQ(codes, Codes(2, ErrorCode::kDiverged));
}

TEST(Solver, RefusesWhatCannotWork) {
  const auto text_of = [](const std::function<void()>& body) -> std::string {
    try {
      body();
    } catch (const UsageError& error) {
      return error.text();
    }
    return "";
  };
  const auto made_with = [&](const SolverSettings& settings) {
    std::string text;
    EXPECT_WORLD_OK(run_training(1, [&](Communicator& group, Arena&) {
      auto layer = double_linear(2);
      text = text_of([&] { const Solver solver(group, *layer, settings); });
    }));
    return text;
  };
  EXPECT_NE(made_with({.history_size = 0}).find("SolverSettings::history_size is 0"), std::string::npos);
  EXPECT_NE(made_with({.l1 = 1}).find("lbfgs has no use for it"), std::string::npos);
  EXPECT_NE(made_with({.learning_rate = 0.5}).find("line search"), std::string::npos);
  EXPECT_EQ(made_with({.line_search = LineSearch::kNone, .learning_rate = 0.5}), "");
  EXPECT_WORLD_OK(run_training(1, [&](Communicator& group, Arena&) {
    auto layer = double_linear(2);
    Solver solver(group, *layer);
    EXPECT_NE(text_of([&] { solver.least_squares_step([&] { return layer->weight; }); }).find("lbfgs"),
              std::string::npos);
    EXPECT_NE(text_of([&] {
                solver.step([&] { return Evaluation{.loss = layer->weight.sum(), .weight = 1}; });
              }).find("backward()"),
              std::string::npos);
  }));
  EXPECT_WORLD_OK(run_training(1, [&](Communicator& group, Arena&) {
    torch::nn::Sequential mixed(torch::nn::Linear(2, 2), torch::nn::Linear(2, 2));
    mixed[1]->to(torch::kDouble);
    EXPECT_NE(text_of([&] { const Solver solver(group, *mixed); }).find("'1.weight' is Double"),
              std::string::npos);
  }));
}

}  // namespace
}  // namespace cohort::test
