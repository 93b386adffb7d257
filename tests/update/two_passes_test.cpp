#include "update/two_passes.h"

#include "tensor_reference.h"
#include "tensors.h"
#include "update/settings.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort {
namespace {

class TensorOptimizer : public testing::TestWithParam<OptimizerCase> {};
INSTANTIATE_TEST_SUITE_P(, TensorOptimizer, testing::ValuesIn(tensor_optimizers()), case_name);

bool is_for(const OptimizerSettings& settings, const Shape& shape) {
  return settings.kind != OptimizerKind::kMuon || shape.size() >= 2;
}

// Each step rounds fewer than 16 times, numbers below 16 by half a unit of 2^-23. Muon multiplies the error
// of a small singular value by a in each iteration.
double tolerance(const OptimizerSettings& settings, int steps) {
  if (settings.kind != OptimizerKind::kMuon) return steps * 16 * 16 * 0x1p-24;
  const OptimizerSettings whole = with_defaults(settings);
  return 16 * std::pow(whole.ns_coefficients[0], whole.ns_steps) * 16 * 0x1p-24;
}

void expect_the_formula_of_tensors(OptimizerSettings settings, const UpdateStep& like, std::size_t piece) {
  constexpr int kSteps = 100;
  for (const Shape& shape : awkward_shapes()) {
    if (!is_for(settings, shape)) continue;
    TensorArrays tensor(settings, shape, 19);
    TensorReference reference(settings, shape, tensor.arrays);
    for (int i = 1; i <= kSteps; ++i) {
      UpdateStep step = like;
      step.count = i;
      step.learning_rate = 0.1 / i;
      tensor.new_gradients(static_cast<std::uint64_t>(i));
      tensor.apply(step, piece);
      if (!reference.p.empty()) reference.apply(step, tensor.arrays.gradients);
    }
    for (std::size_t k = 0; k < reference.p.size(); ++k) {
      ASSERT_NEAR(tensor.arrays.parameters[k], reference.p[k], tolerance(settings, kSteps))
          << name(settings.kind) << ", element " << k << " of " << reference.p.size() << ", " << shape.size()
          << " dimensions";
    }
  }
}

TEST_P(TensorOptimizer, FollowsItsFormulaForAHundredSteps) {
  expect_the_formula_of_tensors(GetParam().settings, {}, 1 << 20);
}

TEST_P(TensorOptimizer, FollowsItsFormulaWithOtherSettingsAndCuts) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.25;
  settings.eps = 0.01;
  if (with_defaults(settings).betas) settings.betas = {0.3, 0.9};
  expect_the_formula_of_tensors(settings, {.gradient_scale = 0.5, .clip_value = 0.25}, 48);
}

TEST_P(TensorOptimizer, GivesTheSameBitsHoweverItIsCut) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.01;
  const Shape shape = {61, 53};
  const auto trained = [&](std::size_t piece) {
    TensorArrays tensor(settings, shape, 5);
    for (int i = 1; i <= 3; ++i) {
      tensor.new_gradients(static_cast<std::uint64_t>(i));
      tensor.apply({.count = i, .learning_rate = 0.1, .gradient_scale = 0.3, .clip_value = 0.2}, piece);
    }
    return tensor;
  };
  const TensorArrays whole = trained(1 << 20);
  for (const std::size_t piece : {16u, 48u, 1008u, 2064u, 3232u}) {
    EXPECT_TRUE(trained(piece) == whole) << "pieces of " << piece;
  }
}

TEST_P(TensorOptimizer, UpdatesAMasterAsItUpdatesParameters) {
  const Shape shape = {19, 7};
  const UpdateStep step{.count = 1, .learning_rate = 0.25};
  Arrays wide(GetParam().settings, 19 * 7, 3), narrow = wide;
  std::vector<float> master = narrow.parameters, directions = wide.gradients, same = wide.gradients;
  std::vector<std::uint16_t> rounded(master.size());
  TensorSums sums, of_master;
  UpdateSpans spans = wide.spans(), with_master = narrow.spans();
  spans.directions = directions.data();
  with_master.directions = same.data();
  with_master.parameters = {reinterpret_cast<std::byte*>(rounded.data()), rounded.size(), DType::kBF16};
  with_master.master = master.data();
  first_pass(GetParam().settings, step, spans, &sums);
  first_pass(GetParam().settings, step, with_master, &of_master);
  EXPECT_EQ(directions, same);
  EXPECT_EQ(sums.parameters.value(), of_master.parameters.value());
  EXPECT_EQ(master, wide.parameters) << "the first pass leaves masters alone";
  spans.gradients = directions;
  with_master.gradients = same;
  apply(GetParam().settings, step, spans);
  apply(GetParam().settings, step, with_master);
  EXPECT_EQ(master, wide.parameters);
  EXPECT_NE(rounded, std::vector<std::uint16_t>(master.size()));
}

TEST(TwoPasses, FactorIsOneWhereANormIsZero) {
  for (const OptimizerKind kind : {OptimizerKind::kLamb, OptimizerKind::kLars}) {
    TensorSums sums;
    EXPECT_EQ(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    sums.parameters.add(4);
    EXPECT_EQ(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    sums.directions.add(1);
    EXPECT_NE(tensor_factor({.kind = kind}, {2, 2}, sums), 1);
    EXPECT_EQ(tensor_factor({.kind = kind}, {4}, sums), 1);
  }
}

TEST(TwoPasses, MuonLeavesVectorsToTheFallback) {
  OptimizerSettings muon{.kind = OptimizerKind::kMuon,
                         .learning_rate = 0.02,
                         .weight_decay = 0.1,
                         .fallback_betas = std::pair(0.8, 0.9)};
  EXPECT_EQ(optimizer_for(muon, {3, 3}), muon);
  const OptimizerSettings fallback = optimizer_for(muon, {3});
  EXPECT_EQ(fallback.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(fallback.learning_rate, 0.02);
  EXPECT_EQ(fallback.betas, std::pair(0.8, 0.9));
  EXPECT_EQ(fallback.eps, 1e-8);
  EXPECT_EQ(fallback.weight_decay, 0.1);
  EXPECT_TRUE(check_settings(fallback).has_value());
  muon.fallback_learning_rate = 0.003;
  EXPECT_EQ(optimizer_for(muon, {}).learning_rate, 0.003);
  EXPECT_EQ(optimizer_for({.kind = OptimizerKind::kLamb}, {3}).kind, OptimizerKind::kLamb);
}

TEST(TwoPasses, NeedsAreThoseOfTheTable) {
  using update::Needs;
  const auto needs = [](OptimizerKind kind, const Shape& shape) {
    return update::needs_of({.kind = kind}, shape);
  };
  EXPECT_EQ(needs(OptimizerKind::kAdam, {2, 2}), Needs::kElements);
  EXPECT_EQ(needs(OptimizerKind::kLamb, {2, 2}), Needs::kTensorNorms);
  EXPECT_EQ(needs(OptimizerKind::kLamb, {4}), Needs::kElements);
  EXPECT_EQ(needs(OptimizerKind::kMuon, {2, 2}), Needs::kWholeTensors);
  EXPECT_EQ(needs(OptimizerKind::kAdafactor, {4}), Needs::kNormsAndWholeTensors);
  for (const OptimizerCase& each : all_optimizers()) EXPECT_FALSE(update::has_two_passes(each.settings));
  for (const OptimizerCase& each : tensor_optimizers()) EXPECT_TRUE(update::has_two_passes(each.settings));
}

}  // namespace
}  // namespace cohort
