#include "config/option_keys.h"
#include "small_models.h"
#include "training_world.h"

#include <cmath>
#include <gtest/gtest.h>

// How training ends: regularly, or with an error.

namespace cohort::test {
namespace {

// The code of the error that each rank gets.
using Codes = std::vector<std::optional<ErrorCode>>;

TEST(Trainer, ALossThatIsNotANumberIsNamedAndDivergesOnEveryRank) {
  Codes codes(3);
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
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
    try {
      trainer.fit(std::make_shared<WholeNumbers>(33));
    } catch (const Error& error) {
      codes.at(static_cast<std::size_t>(group.rank())) = error.code();
      EXPECT_EQ(error.rank(), 1);
      EXPECT_EQ(error.message(), "the loss is nan on rank 1, step 0, micro-batch 1");
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_EQ(codes, Codes(3, ErrorCode::kDiverged));
}

TEST(Trainer, AGradientThatIsNotFiniteUnderAFiniteLossIsNamed) {
  Codes codes(2);
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
    try {
      trainer.fit(std::make_shared<WholeNumbers>(32));
    } catch (const Error& error) {
      codes.at(static_cast<std::size_t>(group.rank())) = error.code();
      EXPECT_TRUE(error.message().starts_with("the norm of the gradient is")) << error.message();
    }
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_EQ(codes, Codes(2, ErrorCode::kDiverged));
}

TEST(Trainer, AnEvaluationNamesTheEpochThatWasTrainedLast) {
  for (const auto& [steps, epoch] : {std::pair(1, 1), std::pair(2, 1), std::pair(3, 2), std::pair(4, 2)}) {
    EXPECT_WORLD_OK(run_training(2, [&, steps = steps, epoch = epoch](Communicator& group, Arena& arena) {
      auto net = small_net();
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net),
                      {.batch_size = 16, .epochs = 3, .steps = steps, .evaluate_every = std::nullopt});
      const auto data = std::make_shared<RoughNumbers>(32);
      EXPECT_EQ(trainer.fit(data, data).last->epoch, epoch) << steps;
    }));
  }
}

TEST(Trainer, ARankThatIsAloneDoesNotCommunicate) {
  for (const int world : {1, 2}) {
    EXPECT_WORLD_OK(run_training(world, [&](Communicator& group, Arena& arena) {
      auto net = small_net();
      double waited = 0;
      Trainer trainer(group, arena, net.ptr(), cross_entropy(net),
                      {.batch_size = 16, .epochs = 2, .on_step = [&](const StepReport& step) {
                         waited += step.communication_seconds;
                       }});
      const TrainingReport report = trainer.fit(std::make_shared<RoughNumbers>(32));
      EXPECT_EQ(report.communication_seconds == 0, world == 1);
      EXPECT_EQ(waited == 0, world == 1);
    }));
  }
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

TEST(Trainer, OptionsThatCannotWorkAreRefusedByTheirNames) {
  struct Case {
    TrainerOptions options;
    std::string option;  // in the words of C++
    std::string key;     // in the words of a job file
  };
  const std::vector<Case> cases{
      {{.optimizer = {.momentum = 0, .nesterov = true}},
       "TrainerOptions::optimizer.nesterov requires",
       "optimizer.nesterov requires"},
      {{.optimizer = {.learning_rate = -0.1}},
       "TrainerOptions::optimizer.learning_rate is -0.1",
       "optimizer.learning_rate is -0.1"},
      {{.optimizer = {.learning_rate = std::nan("")}},
       "TrainerOptions::optimizer.learning_rate is nan",
       "optimizer.learning_rate is nan"},
      {{.optimizer = {.kind = OptimizerKind::kAdam, .betas = std::pair(0.9, 1.0)}},
       "TrainerOptions::optimizer.betas.second is 1",
       "the second number of optimizer.betas is 1"},
      {{.clip_grad_norm = -1}, "TrainerOptions::clip_grad_norm is -1", "optimizer.clip_grad_norm is -1"},
      {{.clip_grad_norm = 0}, "TrainerOptions::clip_grad_norm is 0", "optimizer.clip_grad_norm is 0"},
      {{.batch_size = -1}, "TrainerOptions::batch_size is -1", "train.batch_size is -1"},
      {{.batch_size = 0}, "TrainerOptions::batch_size is 0", "train.batch_size is 0"},
      {{.patience = 0}, "TrainerOptions::patience is 0", "train.patience is 0"},
      {{.loader_threads = 0}, "TrainerOptions::loader_threads is 0", "data.loader_threads is 0"},
      {{.micro_batches = 1}, "leave TrainerOptions::micro_batches out", "leave train.micro_batches out"},
      {{.deterministic = Deterministic::kAnyWorld},
       "TrainerOptions::deterministic = Deterministic::kAnyWorld requires TrainerOptions::micro_batches",
       "train.deterministic = \"any-world\" requires train.micro_batches"},
      {{.micro_batches = 6, .deterministic = Deterministic::kAnyWorld},
       "found 6 micro-batches on 2 ranks",
       "found 6 micro-batches on 2 ranks"},
      {{.optimizer = {.learning_rate = 0}, .groups = {{.patterns = {"*.bias"}, .learning_rate = 0.1}}},
       "TrainerOptions::groups has learning rates, but TrainerOptions::optimizer.learning_rate is 0",
       "optimizer.groups has learning rates, but optimizer.learning_rate is 0"},
      {{.groups = {{.patterns = {"nothing.*"}, .frozen = true}}},
       "pattern 'nothing.*' of TrainerOptions::groups",
       "pattern 'nothing.*' of optimizer.groups"}};
  EXPECT_WORLD_OK(run_training(2, [&](Communicator& group, Arena& arena) {
    auto net = small_net();
    for (const Case& each : cases) {
      try {
        Trainer trainer(group, arena, net.ptr(), cross_entropy(net), each.options);
        ADD_FAILURE() << each.option << " was accepted";
      } catch (const UsageError& error) {
        const std::string in_a_job = config::with_keys(error.text());
        EXPECT_NE(error.text().find(each.option), std::string::npos) << error.text();
        EXPECT_NE(in_a_job.find(each.key), std::string::npos) << in_a_job;
        EXPECT_EQ(in_a_job.find("Options::"), std::string::npos) << in_a_job;
      }
    }
  }));
}

}  // namespace
}  // namespace cohort::test
