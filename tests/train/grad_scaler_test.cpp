#include <cohort/grad_scaler.h>

#include "train/small_models.h"
#include "train/training_world.h"
#include <cohort/error.h>

#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

namespace cohort::test {
namespace {

struct OneNumber {
  at::Tensor value = at::ones({3}).requires_grad_();
  torch::optim::SGD optimizer{std::vector<at::Tensor>{value}, torch::optim::SGDOptions(0.5)};

  void backward(GradScaler& scaler, double gradient) {
    optimizer.zero_grad();
    scaler.scale((value * gradient).sum()).backward();
  }
};

TEST(GradScaler, ScalesAndUnscales) {
  GradScaler scaler({.scale = {.init_scale = 8}});
  OneNumber one;
  one.backward(scaler, 2);
  EXPECT_EQ(one.value.grad()[0].item<float>(), 16);
  scaler.unscale_(one.optimizer);
  EXPECT_EQ(one.value.grad()[0].item<float>(), 2);
  EXPECT_TRUE(scaler.step(one.optimizer));
  EXPECT_EQ(one.value[0].item<float>(), 0);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 8);
}

TEST(GradScaler, SkipsAStepThatOverflows) {
  GradScaler scaler({.scale = {.init_scale = 8, .growth_interval = 1}});
  OneNumber one;
  one.backward(scaler, std::numeric_limits<float>::max());
  EXPECT_FALSE(scaler.step(one.optimizer));
  EXPECT_EQ(one.value[0].item<float>(), 1);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_EQ(scaler.num_skipped(), 1);
  one.backward(scaler, 0.5);
  EXPECT_TRUE(scaler.step(one.optimizer));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 8);
}

TEST(GradScaler, AnOverflowOfOneRankSkipsTheStepOnAll) {
  for (const int world : {1, 2, 3}) {
    const auto outcome = run_training(world, [&](Communicator& group, Arena&) {
      GradScaler scaler(group, {.scale = {.init_scale = 8}});
      OneNumber one;
      const bool is_last = group.rank() == group.size() - 1;
      one.backward(scaler, is_last ? std::numeric_limits<float>::max() : 1);
      EXPECT_FALSE(scaler.step(one.optimizer));
      scaler.update();
      EXPECT_EQ(scaler.get_scale(), 4);
      one.backward(scaler, 1);
      EXPECT_TRUE(scaler.step(one.optimizer));
      scaler.update();
      EXPECT_EQ(scaler.get_scale(), 4);
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(GradScaler, DoesNothingUnlessEnabled) {
  GradScaler scaler({.enabled = false});
  OneNumber one;
  one.backward(scaler, 2);
  EXPECT_TRUE(scaler.step(one.optimizer));
  EXPECT_EQ(one.value[0].item<float>(), 0);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, RefusesCallsInAnotherOrder) {
  GradScaler scaler;
  OneNumber one;
  EXPECT_THROW(scaler.update(), UsageError);
  one.backward(scaler, 1);
  scaler.unscale_(one.optimizer);
  EXPECT_THROW(scaler.unscale_(one.optimizer), UsageError);
  scaler.step(one.optimizer);
  EXPECT_THROW(scaler.step(one.optimizer), UsageError);
  EXPECT_THROW(scaler.unscale_(one.optimizer), UsageError);
  EXPECT_THROW(GradScaler({.scale = {.backoff_factor = 1}}), UsageError);
  for (const double scale : {0.0, -1.0, 1e-50, 1e39, static_cast<double>(INFINITY)}) {  // a scale is a float
    EXPECT_THROW(GradScaler({.scale = {.init_scale = scale}}), UsageError) << scale;
  }
}

TEST(GradScaler, GoesOnWithAVisitedState) {
  const auto pieces_of = [](GradScaler& scaler) {
    std::vector<Piece> pieces;
    scaler.visit_state([&](const Piece& piece) { pieces.push_back(piece); });
    return pieces;
  };
  const GradScalerOptions options{.scale = {.init_scale = 64, .growth_interval = 3, .hysteresis = 2}};
  GradScaler whole(options), resumed(options);
  OneNumber one;
  const double kOver = 1e38;
  const std::vector<double> gradients = {1, 1, kOver, kOver, 1, kOver, kOver, 1, 1, 1};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (i == 6) {  // after one overflow of two
      const std::vector<Piece> from = pieces_of(whole), to = pieces_of(resumed);
      for (std::size_t p = 0; p < from.size(); ++p) {
        EXPECT_EQ(from[p].name, to[p].name);
        std::copy(from[p].bytes.begin(), from[p].bytes.end(), to[p].bytes.begin());
      }
    }
    for (GradScaler* each : {&whole, &resumed}) {
      if (each == &resumed && i < 6) continue;
      one.backward(*each, gradients[i]);
      each->step(one.optimizer);
      each->update();
    }
    if (i >= 6) EXPECT_EQ(resumed.get_scale(), whole.get_scale()) << i;
  }
  EXPECT_EQ(whole.get_scale(), 32);
  EXPECT_EQ(resumed.num_skipped(), whole.num_skipped());
}

}  // namespace
}  // namespace cohort::test
