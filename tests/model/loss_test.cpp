#include "model/loss.h"

#include "model/cases.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort {
namespace {

at::Tensor rows(std::vector<double> numbers, std::int64_t width) {
  return at::tensor(numbers, at::kDouble).view({-1, width}).clone();
}

Batch with_target(at::Tensor target, std::size_t samples) {
  Batch batch;
  batch.target = std::move(target);
  batch.samples.resize(samples);
  return batch;
}

TEST(Loss, SumsTheMeanSquareOfEverySample) {
  const Evaluation got =
      judge(LossKind::kSquaredError, rows({1, 2, 5, 5}, 2), with_target(rows({0, 4, 5, 8}, 2), 2));
  EXPECT_EQ(got.loss.item<double>(), (1 + 4) / 2.0 + 9 / 2.0);
  EXPECT_EQ(got.weight, 2);
  EXPECT_EQ(got.counted, 0);
}

TEST(Loss, TakesTargetsWithoutADimensionOfOutputs) {
  const at::Tensor target = at::tensor({1.0, 4.0, 0.0});
  EXPECT_EQ(judge(LossKind::kSquaredError, rows({1, 2, 3}, 1), with_target(target, 3)).loss.item<double>(),
            13);
}

TEST(Loss, SumsCrossEntropyAndCountsRightAnswers) {
  const double e = std::exp(1.0);
  const at::Tensor target = at::tensor({1, 0}, at::kLong);
  const Evaluation got = judge(LossKind::kCrossEntropy, rows({0, 1, 0, 1}, 2), with_target(target, 2));
  EXPECT_NEAR(got.loss.item<double>(), std::log(1 + e) - 1 + std::log(1 + e), 1e-12);
  EXPECT_EQ(got.weight, 2);
  EXPECT_EQ(got.correct, 1);
  EXPECT_EQ(got.counted, 2);
}

TEST(Loss, IsTheMeanOverTheTokensOfASample) {
  const double e = std::exp(1.0);
  const at::Tensor output = rows({0, 1, 0, 1, 0, 0, 0, 0}, 2).view({2, 2, 2});
  const at::Tensor target = at::tensor({1, 0, 0, 1}, at::kLong).view({2, 2});
  const Evaluation got = judge(LossKind::kCrossEntropy, output, with_target(target, 2));
  EXPECT_NEAR(got.loss.item<double>(), (2 * std::log(1 + e) - 1) / 2 + std::log(2.0), 1e-12);
  EXPECT_EQ(got.weight, 2);
  EXPECT_EQ(got.correct, 2);  // of equal logits the first is the answer
  EXPECT_EQ(got.counted, 4);
}

TEST(Loss, SumsBinaryCrossEntropy) {
  const at::Tensor target = at::tensor({1, 0, 1}, at::kLong);
  const Evaluation got = judge(LossKind::kBinaryCrossEntropy, rows({2, -1, -3}, 1), with_target(target, 3));
  EXPECT_NEAR(got.loss.item<double>(),
              std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-1.0)) + std::log1p(std::exp(3.0)), 1e-12);
  EXPECT_EQ(got.correct, 2);
  EXPECT_EQ(got.counted, 3);
}

Batch with_weight(Batch batch, at::Tensor weight) {
  batch.others = {{"weight", std::move(weight)}};
  return batch;
}

TEST(Loss, WeighsTokens) {
  const double e = std::exp(1.0), infinity = std::numeric_limits<double>::infinity();
  const at::Tensor output = rows({0, 1, 0, 1, 0, infinity, 0, 0}, 2).view({2, 2, 2});
  const at::Tensor target = at::tensor({1, 0, 0, 1}, at::kLong).view({2, 2});
  const at::Tensor weight = at::tensor({1.0, 2.0, 0.0, 0.5}).view({2, 2});
  const Evaluation got = judge(LossKind::kCrossEntropy, output, with_weight(with_target(target, 2), weight));
  EXPECT_NEAR(got.loss.item<double>(), (std::log(1 + e) - 1) + 2 * std::log(1 + e) + 0.5 * std::log(2.0),
              1e-12);
  EXPECT_EQ(got.weight, 3.5);
  EXPECT_EQ(got.correct, 1);
  EXPECT_EQ(got.counted, 3);
}

TEST(Loss, WeighsSamples) {
  const at::Tensor weight = at::tensor({2.0, 0.0});
  const Evaluation square = judge(LossKind::kSquaredError, rows({1, 2, 5, 5}, 2),
                                  with_weight(with_target(rows({0, 4, 5, 8}, 2), 2), weight));
  EXPECT_EQ(square.loss.item<double>(), 2 * (1 + 4) / 2.0);
  EXPECT_EQ(square.weight, 2);
  EXPECT_EQ(square.counted, 0);
  const Evaluation binary = judge(LossKind::kBinaryCrossEntropy, rows({-1, 4}, 1),
                                  with_weight(with_target(at::tensor({0, 1}, at::kLong), 2), weight));
  EXPECT_NEAR(binary.loss.item<double>(), 2 * std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_EQ(binary.correct, 1);
  EXPECT_EQ(binary.counted, 1);
}

TEST(Loss, WeightsOfOneForEachTokenAreAMeanOverTokens) {
  for (const ModelCase& each : model_cases()) {
    SCOPED_TRACE(each.name);
    const auto model = value_or_throw(make_model(each.config, each.facts, 2));
    model->to(at::kDouble);
    model->eval();
    const LossKind kind = loss_of(each.config, each.facts);
    const Batch plain = batch_for(each.facts, 5);
    const bool is_squared = kind == LossKind::kSquaredError;
    const at::Tensor ones = is_squared ? at::ones({5}) : at::ones(plain.target.sizes());
    EvaluationSum by_sample, by_answer;
    by_sample.add(evaluate(*model, kind, plain));
    by_answer.add(evaluate(*model, kind, with_weight(plain, ones)));
    EXPECT_NEAR(by_answer.mean_loss(), by_sample.mean_loss(), 1e-12 * by_sample.mean_loss());
    EXPECT_EQ(by_answer.accuracy(), by_sample.accuracy());
    EXPECT_EQ(by_answer.weight, static_cast<double>(ones.numel()));
  }
}

TEST(Loss, RefusesAWeightThatDoesNotFit) {
  try {
    judge(LossKind::kSquaredError, rows({1, 2, 3}, 1),
          with_weight(with_target(at::zeros({3}), 3), at::ones({2})));
    ADD_FAILURE() << "two weights for three samples";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.message(),
              "the weight of the batch has the shape [2], expected one number for each of 3 answers");
  }
}

TEST(EvaluationSum, IsTheSumOfLossesOverTheSumOfWeights) {
  EvaluationSum sum;
  EXPECT_THROW(sum.mean_loss(), UsageError);
  EXPECT_FALSE(sum.accuracy());
  sum.add({.loss = at::full({}, 3.0), .weight = 1, .correct = 1, .counted = 2});
  sum.add({.loss = at::full({}, 1.0), .weight = 3, .correct = 2, .counted = 2});
  EXPECT_EQ(sum.mean_loss(), 1);
  EXPECT_EQ(sum.accuracy(), 0.75);
}

TEST(Loss, OfPartsAddsUpToThatOfTheWhole) {
  for (const ModelCase& each : model_cases()) {
    if (each.config.kind == "resnet18") continue;  // normalises over the batch
    SCOPED_TRACE(each.name);
    const auto model = value_or_throw(make_model(each.config, each.facts, 2));
    model->to(at::kDouble);
    const LossKind kind = loss_of(each.config, each.facts);
    const Batch whole = batch_for(each.facts, 7);
    Evaluation sum{.loss = at::zeros({}, at::kDouble)};
    for (const auto& [first, count] : {std::pair{0, 1}, {1, 4}, {5, 2}}) {
      Batch part{whole.input.narrow(0, first, count), whole.target.narrow(0, first, count), {}};
      part.samples.assign(whole.samples.begin() + first, whole.samples.begin() + first + count);
      const Evaluation got = evaluate(*model, kind, part);
      sum.loss = sum.loss + got.loss;
      sum.weight += got.weight;
      sum.correct += got.correct;
      sum.counted += got.counted;
    }
    const Evaluation all = evaluate(*model, kind, whole);
    EXPECT_NEAR(sum.loss.item<double>(), all.loss.item<double>(), 1e-12 * all.loss.item<double>());
    EXPECT_EQ(sum.weight, all.weight);
    EXPECT_EQ(sum.correct, all.correct);
    EXPECT_EQ(sum.counted, all.counted);
  }
}

TEST(Loss, IsChosenByModelAndData) {
  const DataFacts numbers{.outputs = 1}, classes{.classes = 2}, text{.vocabulary = 5};
  EXPECT_EQ(loss_of(model_config("linear"), numbers), LossKind::kSquaredError);
  EXPECT_EQ(loss_of(model_config("mlp"), numbers), LossKind::kSquaredError);
  EXPECT_EQ(loss_of(model_config("mlp"), classes), LossKind::kCrossEntropy);
  EXPECT_EQ(loss_of(model_config("logistic"), classes), LossKind::kBinaryCrossEntropy);
  EXPECT_EQ(loss_of(model_config("gpt"), text), LossKind::kCrossEntropy);
}

TEST(Loss, OfAnEmptyBatchWeighsNothing) {
  const ModelCase each = gpt_case();
  const auto model = value_or_throw(make_model(each.config, each.facts, 2));
  const Evaluation got =
      evaluate(*model, LossKind::kCrossEntropy, {at::empty({0, 7}), at::empty({0, 7}), {}});
  EXPECT_EQ(got.loss.item<double>(), 0);
  EXPECT_EQ(got.weight, 0);
  EXPECT_FALSE(got.loss.requires_grad());
}

TEST(Loss, RefusesATargetThatDoesNotFit) {
  try {
    judge(LossKind::kCrossEntropy, rows({0, 1, 0, 1}, 2), with_target(at::zeros({3}, at::kLong), 2));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.message(),
              "a target of shape [3] does not fit an output of shape [2, 2] for cross_entropy");
  }
  const Batch two = with_target(at::zeros({2}, at::kDouble), 2);
  EXPECT_THROW(judge(LossKind::kSquaredError, rows({1, 2, 3}, 1), two), UsageError);
  EXPECT_THROW(judge(LossKind::kBinaryCrossEntropy, rows({1, 2, 3}, 1), two), UsageError);
}

}  // namespace
}  // namespace cohort
