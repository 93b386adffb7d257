// Augmentation in training depends on seed, epoch and index alone.

#include "train/small_models.h"
#include "train/training_world.h"

#include <cohort/views.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

namespace cohort::test {
namespace {

/// Inputs of the samples that ranks trained with, by epoch and index.
class SeenInputs {
 public:
  void add(std::uint64_t epoch, const Batch& batch) {
    const std::lock_guard lock(mutex_);
    for (std::size_t row = 0; row < batch.samples.size(); ++row) {
      const at::Tensor input = batch.at(static_cast<std::int64_t>(row)).input;
      const float* numbers = input.const_data_ptr<float>();
      inputs_[{epoch, batch.samples[row]}].assign(numbers, numbers + input.numel());
    }
  }
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<float>> take() { return std::move(inputs_); }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<float>> inputs_;
};

struct DrawnRun {
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<float>> seen;
  std::vector<float> numbers;
  std::vector<double> test_losses;
};

std::shared_ptr<Dataset> shifted(std::int64_t samples) {
  return augment(std::make_shared<WholeNumbers>(samples), [](Sample sample, const RandomStream& random) {
    sample.input = sample.input + static_cast<double>(random.below(5, 0));  // whole numbers stay exact
    return sample;
  });
}

constexpr int kEpochs = 3;
constexpr std::int64_t kSamples = 23;

DrawnRun train_on(int world, std::uint64_t seed) {
  SeenInputs seen;
  DrawnRun trained;
  const auto outcome = run_training(world, [&](Communicator& group, Arena& arena) {
    auto layer = exact_linear();
    std::uint64_t epoch = 1;
    const Objective inner = squared_error(layer);
    const Objective objective = [&](const Batch& batch) {
      if (layer->is_training()) seen.add(epoch, batch);
      return inner(batch);
    };
    TrainerOptions options{.optimizer = {.learning_rate = 0x1p-10, .momentum = 0},
                           .batch_size = 16,
                           .micro_batches = 4,
                           .epochs = kEpochs,
                           .seed = seed,
                           .shuffle = false,
                           .deterministic = Deterministic::kAnyWorld};
    std::vector<double> losses;
    options.on_evaluation = [&](const EvaluationReport& report) {
      losses.push_back(report.loss);
      ++epoch;
    };
    options.loader_threads = 2;
    Trainer trainer(group, arena, layer.ptr(), objective, options);
    const double before = trainer.evaluate(*shifted(kSamples)).loss;
    EXPECT_EQ(trainer.evaluate(*shifted(kSamples)).loss, before) << "evaluations see one draw";
    trainer.fit(shifted(kSamples), shifted(kSamples));
    if (group.rank() != 0) return;
    trained.numbers = numbers_of(*layer);
    trained.test_losses = losses;
  });
  EXPECT_WORLD_OK(outcome);
  trained.seen = seen.take();
  return trained;
}

TEST(DrawInTraining, IsOtherInEachEpoch) {
  const DrawnRun trained = train_on(1, 1);
  ASSERT_EQ(trained.seen.size(), std::size_t{kEpochs * kSamples});
  int num_changed = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    if (trained.seen.at({1, i}) != trained.seen.at({2, i})) ++num_changed;
  }
  EXPECT_GT(num_changed, kSamples / 2);  // 4 of 5 on average
}

TEST(DrawInTraining, IsTheSameOnAnyNumberOfRanksAndInARepetition) {
  const DrawnRun one = train_on(1, 1);
  EXPECT_EQ(train_on(1, 1).seen, one.seen);
  for (const int world : {2, 4}) {
    const DrawnRun several = train_on(world, 1);
    EXPECT_EQ(several.seen, one.seen) << world;
    EXPECT_EQ(several.numbers, one.numbers) << world;
    EXPECT_EQ(several.test_losses, one.test_losses) << world;
  }
  EXPECT_NE(train_on(1, 2).seen, one.seen);
}

}  // namespace
}  // namespace cohort::test
