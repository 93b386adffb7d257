#include "small_model.h"
#include <cohort/predict.h>

#include <ATen/ATen.h>
#include <cmath>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

TEST(Predictions, OfClassesHaveNamesAndProbabilities) {
  const auto all =
      predictions(mlp_facts(), at::tensor({0.0, std::log(3.0), 0.0, 1.0, 1.0, 9.0}).view({2, 3}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].class_name, "bee");
  EXPECT_EQ(all[0].class_index, 1);
  EXPECT_NEAR(all[0].probability, 0.6, 1e-6);
  EXPECT_NEAR(all[0].outputs[0], 0.2, 1e-6);
  EXPECT_EQ(all[1].class_name, "cat");
}

TEST(Predictions, OfOneLogitAreForTwoClasses) {
  const ModelFacts facts{.input_shape = {1}, .classes = {"no", "yes"}};
  const auto all = predictions(facts, at::tensor({std::log(3.0), -1.0}).view({2, 1}));
  EXPECT_EQ(all[0].class_name, "yes");
  EXPECT_NEAR(all[0].probability, 0.75, 1e-6);
  EXPECT_EQ(all[1].class_name, "no");
  EXPECT_GT(all[1].probability, 0.5);
}

TEST(Predictions, OfNumbersAreTheOutput) {
  const auto all =
      predictions({.input_shape = {1}, .outputs = 2}, at::tensor({1.5, 2.5, 3.5, 4.5}).view({2, 2}));
  EXPECT_EQ(all[1].outputs, (std::vector<double>{3.5, 4.5}));
  EXPECT_TRUE(predictions({.outputs = 2}, at::empty({0, 2})).empty());
}

TEST(Predictions, OfAnotherShapeAreRefused) {
  EXPECT_THROW(predictions(mlp_facts(), at::zeros({2, 4})), UsageError);
  EXPECT_THROW(predictions(small_gpt().facts, at::zeros({2, 4})), UsageError);
}

TEST(Normalised, ByColumn) {
  const at::Tensor input = normalised(mlp_facts(), at::tensor({3.0, 20.0, 1.0, 5.0}).view({2, 2}));
  EXPECT_TRUE(input.equal(at::tensor({1.0f, 2.0f, 0.0f, -1.0f}).view({2, 2})));
}

TEST(Normalised, ByChannelAndForAll) {
  const at::Tensor raw = at::arange(8).view({1, 2, 2, 2});
  const ModelFacts channels{.input_shape = {2, 2, 2}, .mean = {0, 4}, .deviation = {1, 2}};
  EXPECT_TRUE(
      normalised(channels, raw).flatten().equal(at::tensor({0.f, 1.f, 2.f, 3.f, 0.f, .5f, 1.f, 1.5f})));
  const ModelFacts all{.input_shape = {2, 2, 2}, .mean = {1}, .deviation = {2}};
  EXPECT_TRUE(normalised(all, raw).flatten().equal((at::arange(8).to(at::kFloat) - 1) / 2));
  EXPECT_TRUE(normalised({.input_shape = {2, 2, 2}}, raw).equal(raw.to(at::kFloat)));
  EXPECT_THROW(normalised(all, raw.view({2, 2, 2})), UsageError);
}

}  // namespace
}  // namespace cohort::test
