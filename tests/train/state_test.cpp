#include "layout/random_slices.h"
#include "small_models.h"
#include "state/memory_source.h"
#include "state/move.h"
#include "training_world.h"

#include <cohort/data_parallel.h>
#include <cohort/state.h>
#include <cohort/trainer.h>

#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

/// A copy of the pieces of one rank.
class StateCopy {
 public:
  StateVisitor visitor() {
    return [this](const Piece& piece) {
      bytes_.emplace_back(piece.bytes.begin(), piece.bytes.end());
      pieces_.push_back(piece);
    };
  }
  std::vector<Piece> pieces() {
    for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].bytes = bytes_[i];
    return pieces_;
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::byte>> bytes_;
};

std::vector<Piece> pieces_of(Trainer& trainer) {
  std::vector<Piece> pieces;
  trainer.visit_state([&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

torch::nn::Sequential rough_net() {
  return with_fixed_numbers(torch::nn::Sequential(torch::nn::Linear(6, 37), torch::nn::BatchNorm1d(37),
                                                  torch::nn::ReLU(), torch::nn::Linear(37, 3)));
}

// Buckets so small that parameters are cut into several.
TrainerOptions rough_options() {
  return {.optimizer = {.kind = OptimizerKind::kAdamW, .learning_rate = 0.01, .weight_decay = 0.01},
          .batch_size = 32,
          .micro_batches = 4,
          .epochs = 2,
          .deterministic = Deterministic::kAnyWorld,
          .bucket_bytes = 256};
}

struct Trained {
  std::vector<StateCopy> copies;  // per rank, after the first fit
  std::string hash;               // after the second
};

Trained train_twice(int world) {
  Trained result{.copies = std::vector<StateCopy>(static_cast<std::size_t>(world)), .hash = {}};
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    const auto net = rough_net();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), rough_options());
    trainer.fit(std::make_shared<RoughNumbers>(96));
    trainer.visit_state(result.copies[static_cast<std::size_t>(group.rank())].visitor());
    const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(96));
    if (group.rank() == 0) result.hash = report.parameters_hash;
  });
  EXPECT_WORLD_OK(outcome);
  return result;
}

// The state of a trainer on n ranks, moved to a new trainer on m ranks, trains on as if nothing had happened.
TEST(TrainerState, GoesFromAnyWorldToAnyWorld) {
  for (const int n : {1, 2, 4}) {
    Trained before = train_twice(n);
    for (const int m : {1, 2, 4}) {
      std::vector<std::vector<Piece>> by_rank;
      for (StateCopy& copy : before.copies) by_rank.push_back(copy.pieces());
      const auto outcome = run_training(m, [&](Communicator& group, Arena& arena) {
        const auto net = rough_net();
        Trainer trainer(group, arena, net.ptr(), cross_entropy(net), rough_options());
        MemorySource source(by_rank);
        value_or_throw(state::move(pieces_of(trainer), source));
        const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(96));
        if (report.parameters_hash != before.hash) throw Error(ErrorCode::kBug, "other parameters");
      });
      EXPECT_WORLD_OK(outcome) << n << " to " << m;
    }
  }
}

// All ranks together hold every element of every moment exactly once, in the memory that the host shares.
TEST(TrainerState, MomentsAreSharedByTheRanksAndLieInTheArena) {
  std::mutex mutex;
  std::map<std::string, std::vector<std::size_t>> seen;
  std::map<std::string, Shape> shapes;
  bool has_several_pieces = false;
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    const auto net = rough_net();
    TrainerOptions options = rough_options();
    options.deterministic = Deterministic::kWorld;
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(96));
    const std::lock_guard lock(mutex);
    std::map<std::string, int> num_pieces;
    trainer.visit_state([&](const Piece& piece) {
      if (piece.name.find("/exp_avg") == std::string::npos) return;
      if (!arena.offset_of(piece.bytes.data(), piece.bytes.size())) {
        throw Error(ErrorCode::kBug, piece.name + " is not in the arena");
      }
      has_several_pieces = has_several_pieces || ++num_pieces[piece.name] > 1;
      const auto elements = elements_of(piece.shape, piece.mine);
      seen[piece.name].insert(seen[piece.name].end(), elements.begin(), elements.end());
      shapes[piece.name] = piece.shape;
    });
  });
  ASSERT_WORLD_OK(outcome);
  EXPECT_TRUE(has_several_pieces);
  EXPECT_EQ(seen.size(), 12u) << "two moments of six parameters";
  EXPECT_EQ(shapes.at("0.weight/exp_avg_sq"), (Shape{37, 6}));
  for (auto& [name, elements] : seen) {
    std::sort(elements.begin(), elements.end());
    ASSERT_EQ(elements.size(), num_elements(shapes[name])) << name;
    for (std::size_t i = 0; i < elements.size(); ++i) ASSERT_EQ(elements[i], i) << name;
  }
}

TEST(TrainerState, HasTheNamesOfTheModuleAndThePosition) {
  std::set<std::string> names;
  std::map<std::string, std::int64_t> numbers;
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    const auto net = rough_net();
    TrainerOptions options = rough_options();
    options.steps = 4;  // three steps are an epoch
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    trainer.fit(std::make_shared<RoughNumbers>(96), std::make_shared<RoughNumbers>(9));
    trainer.visit_state([&](const Piece& piece) {
      names.insert(piece.name);
      if (piece.dtype == DType::kI64) std::memcpy(&numbers[piece.name], piece.bytes.data(), 8);
    });
  });
  ASSERT_WORLD_OK(outcome);
  for (const std::string name :
       {"0.weight", "0.weight/exp_avg", "0.weight/exp_avg_sq", "0.weight/step", "1.running_mean",
        "1.num_batches_tracked", "position/step", "position/best_loss", "position/evaluations_since_best"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  EXPECT_EQ(numbers["0.weight/step"], 4);
  EXPECT_EQ(numbers["position/step"], 4);
  EXPECT_EQ(numbers["position/epoch"], 1);
  EXPECT_EQ(numbers["position/step_in_epoch"], 1);
  EXPECT_EQ(numbers["position/samples"], 128);
}

TEST(TrainerState, OfAnOptimizerOfTorchIsVisitedAsWell) {
  std::set<std::string> names;
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    const auto net = rough_net();
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
    TrainerOptions options = rough_options();
    options.optimizer = {};
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net), &optimizer, options);
    trainer.fit(std::make_shared<RoughNumbers>(96));
    trainer.visit_state(
        [&](const Piece& piece) { EXPECT_TRUE(names.insert(piece.name).second) << piece.name; });
  });
  ASSERT_WORLD_OK(outcome);
  EXPECT_EQ(names.count("3.weight/exp_avg"), 1u);
  EXPECT_EQ(names.count("3.weight/step"), 1u);
}

/// An optimizer of torch, made from the parameters of a module.
struct TorchCase {
  std::string name;
  std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<at::Tensor>)> make;
  std::set<std::string> tensors;

  friend std::ostream& operator<<(std::ostream& out, const TorchCase& each) { return out << each.name; }
};

template <class Optimizer, class Options>
auto maker(Options options) {
  return [=](std::vector<at::Tensor> parameters) {
    return std::make_unique<Optimizer>(std::move(parameters), options);
  };
}

std::vector<TorchCase> torch_cases() {
  using namespace torch::optim;
  return {{"SGD", maker<SGD>(SGDOptions(0.01)), {}},
          {"Momentum", maker<SGD>(SGDOptions(0.01).momentum(0.9)), {"momentum_buffer"}},
          {"Adam", maker<Adam>(AdamOptions(0.01)), {"exp_avg", "exp_avg_sq", "step"}},
          {"AMSGrad",
           maker<Adam>(AdamOptions(0.01).amsgrad(true)),
           {"exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"}},
          {"AdamW", maker<AdamW>(AdamWOptions(0.01)), {"exp_avg", "exp_avg_sq", "step"}},
          {"RMSprop", maker<RMSprop>(RMSpropOptions(0.01)), {"square_avg", "step"}},
          {"CenteredRMSprop",
           maker<RMSprop>(RMSpropOptions(0.01).momentum(0.9).centered(true)),
           {"square_avg", "momentum_buffer", "grad_avg", "step"}},
          {"Adagrad", maker<Adagrad>(AdagradOptions(0.01)), {"sum", "step"}}};
}

class TorchState : public testing::TestWithParam<TorchCase> {};
INSTANTIATE_TEST_SUITE_P(, TorchState, testing::ValuesIn(torch_cases()),
                         [](const auto& info) { return info.param.name; });

void train(torch::nn::Sequential& net, torch::optim::Optimizer& optimizer, int first_step, int last_step) {
  for (int step = first_step; step < last_step; ++step) {
    at::Tensor input = at::empty({8, 6});
    fill_uniform(input, RandomStream(5, static_cast<std::uint64_t>(step)), -1, 1);
    optimizer.zero_grad();
    net->forward(input).square().sum().backward();
    optimizer.step();
  }
}

std::vector<Piece> pieces_of(torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  std::vector<Piece> pieces;
  visit_state(module, optimizer, [&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

// A loop of the user, which is interrupted after three steps and goes on with a new module and a new
// optimizer.
TEST_P(TorchState, GoesOnInANewOptimizer) {
  torch::nn::Sequential net = rough_net(), other = rough_net();
  const auto optimizer = GetParam().make(net->parameters());
  const auto fresh = GetParam().make(other->parameters());
  train(net, *optimizer, 0, 3);
  StateCopy copy;
  visit_state(*net, *optimizer, copy.visitor());
  train(net, *optimizer, 3, 6);

  MemorySource source({copy.pieces()});
  value_or_throw(state::move(pieces_of(*other, *fresh), source));
  train(other, *fresh, 3, 6);
  const auto expected = net->parameters(), found = other->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::equal(expected[i], found[i])) << i;
  EXPECT_TRUE(at::equal(net->named_buffers()["1.running_var"], other->named_buffers()["1.running_var"]));
}

// Visiting before the first step changes nothing.
TEST_P(TorchState, IsMadeBeforeTheFirstStepAsInIt) {
  torch::nn::Sequential net = rough_net(), visited = rough_net();
  const auto optimizer = GetParam().make(net->parameters()), early = GetParam().make(visited->parameters());
  std::set<std::string> tensors;
  for (const Piece& piece : pieces_of(*visited, *early)) {
    if (piece.name.rfind("0.weight/", 0) == 0) tensors.insert(piece.name.substr(9));
  }
  EXPECT_EQ(tensors, GetParam().tensors);
  train(net, *optimizer, 0, 3);
  train(visited, *early, 0, 3);
  const auto expected = net->parameters(), found = visited->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::equal(expected[i], found[i])) << i;
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.text();
  }
  return "no error";
}

// An empty state would make the first step with momentum fail.
TEST(VisitState, LeavesSgdWithoutMomentumAlone) {
  torch::nn::Sequential net = rough_net();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  (void)pieces_of(*net, optimizer);
  static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options()).momentum(0.5);
  EXPECT_NO_THROW(train(net, optimizer, 0, 1));
}

TEST(VisitState, RefusesWhatItCannotVisit) {
  const StateVisitor ignore = [](const Piece&) {};
  torch::nn::Sequential net = rough_net(), other = rough_net();
  torch::optim::LBFGS lbfgs(net->parameters());
  EXPECT_NE(refusal([&] { visit_state(*net, lbfgs, ignore); }).find("cannot be visited"), std::string::npos);
  torch::optim::Adam foreign(other->parameters());
  EXPECT_NE(refusal([&] { visit_state(*net, foreign, ignore); }).find("that the module does not have"),
            std::string::npos);
  torch::optim::SGD damped(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5).dampening(0.5));
  EXPECT_NE(refusal([&] { visit_state(*net, damped, ignore); }).find("dampening"), std::string::npos);
  train(net, damped, 0, 1);
  EXPECT_EQ(refusal([&] { visit_state(*net, damped, ignore); }), "no error");
  torch::nn::Conv2d conv(2, 3, 3);
  conv->weight.set_data(at::empty({3, 2, 3, 6}).slice(3, 0, 3));
  EXPECT_NE(refusal([&] { visit_state(*conv, ignore); }).find("'weight' cannot be visited"),
            std::string::npos);
}

}  // namespace
}  // namespace cohort::test
