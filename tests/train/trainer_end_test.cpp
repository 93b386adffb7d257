#include "small_models.h"
#include "training_world.h"

#include <cmath>
#include <gtest/gtest.h>

// How training ends: regularly, or with an error.

namespace cohort::test {
namespace {

TEST(Trainer, ALossThatIsNotANumberIsNamed) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Objective inner = squared_error(layer);
    Trainer trainer(
        group, arena, layer.ptr(),
        [&](const Batch& batch) {
          Evaluation evaluation = inner(batch);
          if (group.rank() == 1) evaluation.loss = evaluation.loss * std::nan("");
          return evaluation;
        },
        exact_options());
    trainer.fit(std::make_shared<WholeNumbers>(32));
  });
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.text().find("the loss is nan on rank 1, step 0, slot 1"), std::string::npos)
      << outcome.text();
}

TEST(Trainer, AGradientThatIsNotFiniteUnderAFiniteLossIsNamed) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    TrainerOptions options = exact_options();
    options.clip_grad_norm = 1;
    Trainer trainer(
        group, arena, layer.ptr(),
        [&](const Batch& batch) {
          return Evaluation{.loss = (layer->weight * 0).abs().sqrt().sum(),
                            .weight = static_cast<double>(batch.samples.size())};
        },
        options);
    trainer.fit(std::make_shared<WholeNumbers>(32));
  });
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.text().find("the norm of the gradient is"), std::string::npos) << outcome.text();
}

// The error of each rank when the last rank throws in its forward; `use` calls the trainer.
std::vector<std::string> said_when_one_throws(int world, const std::function<void(Trainer&)>& use) {
  std::vector<std::string> said(static_cast<std::size_t>(world));
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Objective inner = squared_error(layer);
    const auto objective = [&](const Batch& batch) {
      if (group.rank() == world - 1) throw std::runtime_error("planted in forward");
      return inner(batch);
    };
    Trainer trainer(group, arena, layer.ptr(), objective, exact_options());
    try {
      use(trainer);
    } catch (const std::exception& error) {
      said[static_cast<std::size_t>(group.rank())] = error.what();
    }
    (void)group.run(barrier());  // no rank leaves before all have their error
  });
  EXPECT_WORLD_OK(outcome);
  return said;
}

TEST(Trainer, AnExceptionOnOneRankEndsAllRanks) {
  const auto data = std::make_shared<WholeNumbers>(900);  // enough for each rank to evaluate some
  for (const auto& said : {said_when_one_throws(3, [&](Trainer& trainer) { trainer.fit(data); }),
                           said_when_one_throws(3, [&](Trainer& trainer) { trainer.evaluate(*data); })}) {
    for (const std::string& text : said)
      EXPECT_NE(text.find("planted in forward"), std::string::npos) << text;
    EXPECT_NE(said[0].find("rank 2"), std::string::npos) << said[0];
  }
}

TEST(Trainer, ARankWhoseParametersDifferIsNamed) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    Objective inner = squared_error(layer);
    TrainerOptions options = exact_options();
    options.hash_every = 1;
    options.one_copy = false;
    options.batch_size = 8;
    options.on_step = [&](const StepReport&) {
      if (group.rank() == 1) layer->weight.data().fill_(3);
    };
    Trainer trainer(group, arena, layer.ptr(), inner, options);
    trainer.fit(std::make_shared<WholeNumbers>(32));
  });
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.text().find("the parameters of rank 1 differ from"), std::string::npos) << outcome.text();
}

TEST(Trainer, EndsEarlyWhenNothingGetsBetter) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    Trainer trainer(group, arena, net.ptr(), cross_entropy(net),
                    {.optimizer = {.learning_rate = 0}, .batch_size = 16, .epochs = 50, .patience = 2});
    const auto data = std::make_shared<RoughNumbers>(32);
    const TrainingReport report = trainer.fit(data, data);
    EXPECT_EQ(report.end, TrainingEnd::kPatience);
    EXPECT_EQ(report.epochs, 3);
    EXPECT_EQ(report.best->epoch, 1);
    EXPECT_TRUE(report.best->accuracy.has_value());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Trainer, OneRankThatWantsToStopStopsAllAtTheSameStep) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    int asked = 0;
    Trainer trainer(
        group, arena, net.ptr(), cross_entropy(net),
        {.optimizer = {.learning_rate = 0.1}, .batch_size = 16, .epochs = 50, .wants_to_stop = [&] {
           return group.rank() == 2 && ++asked == 4;
         }});
    const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(32));
    EXPECT_EQ(report.end, TrainingEnd::kStopped);
    EXPECT_EQ(report.steps, 4);
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Trainer, OptionsThatCannotWorkAreRefused) {
  const auto outcome = run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    const auto make = [&](const TrainerOptions& options) {
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net), options);
    };
    EXPECT_THROW(make({.optimizer = {.momentum = 0, .nesterov = true}}), UsageError);
    EXPECT_THROW(make({.optimizer = {.learning_rate = -0.1}}), UsageError);
    EXPECT_THROW(make({.optimizer = {.learning_rate = std::nan("")}}), UsageError);
    EXPECT_THROW(make({.optimizer = {.betas = {0.9, 1.0}}}), UsageError);
    EXPECT_THROW(make({.clip_grad_norm = -1}), UsageError);
    EXPECT_THROW(make({.clip_grad_norm = 0}), UsageError);
    EXPECT_THROW(make({.batch_size = -1}), UsageError);
    EXPECT_THROW(make({.batch_size = 0}), UsageError);
    EXPECT_THROW(make({.patience = 0}), UsageError);
    EXPECT_THROW(make({.loader_threads = 0}), UsageError);
    EXPECT_THROW(make({.micro_batches = 1}), UsageError);
    EXPECT_THROW(make({.deterministic = Deterministic::kAnyWorld}), UsageError);
    EXPECT_THROW(make({.micro_batches = 6, .deterministic = Deterministic::kAnyWorld}), UsageError);
    EXPECT_THROW(make({.groups = {{.patterns = {"nothing.*"}, .frozen = true}}}), UsageError);
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test
