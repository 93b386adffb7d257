#include "data/digits.h"
#include "data/glyphs.h"
#include "data/markov.h"
#include "data/points.h"
#include "tensors.h"

#include <cmath>
#include <gtest/gtest.h>

namespace cohort::data {
namespace {

using test::is_consistent;
using test::up_to;
using test::values;

// A share of n trials with chance p lies within five standard deviations.
double five_deviations(double p, double n) {
  return 5 * std::sqrt(p * (1 - p) / n);
}

void expect_even_classes(const at::Tensor& target, int classes) {
  const auto n = static_cast<double>(target.numel());
  for (int c = 0; c < classes; ++c) {
    EXPECT_NEAR(target.eq(c).sum().item<double>() / n, 1.0 / classes, five_deviations(1.0 / classes, n)) << c;
  }
}

TEST(UnitCircle, IsCosineAndSine) {
  for (double turns = -2.0; turns < 2.0; turns += 0.00737) {
    const CirclePoint point = unit_circle(turns);
    EXPECT_NEAR(point.x, std::cos(2 * M_PI * turns), 2e-15);
    EXPECT_NEAR(point.y, std::sin(2 * M_PI * turns), 2e-15);
  }
  EXPECT_EQ(unit_circle(0.25).y, 1);
  EXPECT_EQ(unit_circle(0.5).x, -1);
}

TEST(Generators, MakeASampleFromSeedAndNumberAlone) {
  const GeneratedRange whole{3, 0, 60}, part{3, 40, 20}, other{4, 0, 60};
  const auto check = [&](const Dataset& a, const Dataset& b, const Dataset& c) {
    EXPECT_TRUE(is_consistent(a, 17));
    EXPECT_TRUE(at::equal(a.batch(up_to(20, 40)).input, b.batch(up_to(20)).input));
    EXPECT_TRUE(at::equal(a.batch(up_to(20, 40)).target, b.batch(up_to(20)).target));
    EXPECT_FALSE(at::equal(a.batch(up_to(20)).input, c.batch(up_to(20)).input));
  };
  const DigitsOptions digits{.image_size = 13, .noise = 0.1};
  check(DigitsDataset(whole, digits), DigitsDataset(part, digits), DigitsDataset(other, digits));
  check(SpiralsDataset(whole, 3, 0.1), SpiralsDataset(part, 3, 0.1), SpiralsDataset(other, 3, 0.1));
  check(RegressionDataset(whole, 5, 0.1), RegressionDataset(part, 5, 0.1), RegressionDataset(other, 5, 0.1));
  check(MarkovDataset(whole, 5, 7), MarkovDataset(part, 5, 7), MarkovDataset(other, 5, 7));
}

TEST(Digits, AreInkWithinThePictureAndEvenlySpread) {
  const DigitsDataset digits({1, 0, 2000}, {.image_size = 28});
  const Batch batch = digits.batch(up_to(2000));
  EXPECT_EQ(batch.input.sizes(), at::IntArrayRef({2000, 1, 28, 28}));
  EXPECT_EQ(batch.input.min().item<float>(), 0);
  EXPECT_EQ(batch.input.max().item<float>(), 1);
  expect_even_classes(batch.target, 10);
  const at::Tensor ink = batch.input.mean({1, 2, 3});
  EXPECT_GT(ink.min().item<float>(), 0.02f);
  EXPECT_LT(ink.max().item<float>(), 0.35f);
  // Ink never reaches far beyond the edge of the picture: the corners stay empty.
  EXPECT_EQ(batch.input.slice(2, 0, 1).slice(3, 0, 1).max().item<float>(), 0);
}

// The nearest of ten mean pictures tells most digits apart, so there is something to learn and something to
// get wrong.
TEST(Digits, CanBeToldApart) {
  const DigitsDataset digits({1, 0, 1500}, {.image_size = 20, .noise = 0.1});
  const Batch train = digits.batch(up_to(1000)), test = digits.batch(up_to(500, 1000));
  std::vector<at::Tensor> means;
  for (int digit = 0; digit < 10; ++digit) {
    means.push_back(
        train.input.index_select(0, train.target.eq(digit).nonzero().view({-1})).mean(0).view({1, -1}));
  }
  const at::Tensor answers = at::cdist(test.input.view({500, -1}), at::cat(means)).argmin(1);
  const double right = answers.eq(test.target).sum().item<double>() / 500;
  EXPECT_GT(right, 0.5);
  EXPECT_LT(right, 1.0);
}

TEST(Digits, NoiseHasItsDeviation) {
  const GeneratedRange range{5, 0, 200};
  const at::Tensor clean = DigitsDataset(range, {.image_size = 27}).batch(up_to(200)).input;
  const at::Tensor noisy = DigitsDataset(range, {.image_size = 27, .noise = 0.1}).batch(up_to(200)).input;
  EXPECT_GE(noisy.min().item<float>(), 0);
  EXPECT_LE(noisy.max().item<float>(), 1);
  // The noise of middle tones, which is not clipped at 0 or 1.
  const at::Tensor middle = clean.gt(0.25).logical_and(clean.lt(0.75));
  const at::Tensor noise = (noisy - clean).masked_select(middle);
  ASSERT_GT(noise.numel(), 1000);
  EXPECT_NEAR(noise.mean().item<double>(), 0, 5 * 0.1 / std::sqrt(static_cast<double>(noise.numel())));
  EXPECT_NEAR(noise.std().item<double>(), 0.1, 0.005);
}

TEST(Digits, EveryGlyphStaysInItsSquare) {
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_GE(glyph(digit).size(), 3u);
    for (const Point& point : glyph(digit)) {
      EXPECT_TRUE(point.x >= 0.05f && point.x <= 0.95f && point.y >= 0.05f && point.y <= 0.95f) << digit;
    }
  }
}

TEST(Spirals, LieOnTheirArms) {
  const SpiralsDataset spirals({2, 0, 3000}, 3, 0);
  const Batch batch = spirals.batch(up_to(3000));
  expect_even_classes(batch.target, 3);
  const auto points = values<float>(batch.input);
  const auto arms = values<std::int64_t>(batch.target);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const double x = points[2 * i], y = points[2 * i + 1], radius = std::hypot(x, y);
    ASSERT_LT(radius, 1.0001);
    const double turns = 0.75 * radius + static_cast<double>(arms[i]) / 3;
    EXPECT_NEAR(x, radius * std::cos(2 * M_PI * turns), 1e-6);
    EXPECT_NEAR(y, radius * std::sin(2 * M_PI * turns), 1e-6);
  }
}

TEST(Spirals, NoiseHasItsDeviation) {
  const GeneratedRange range{2, 0, 5000};
  const at::Tensor noise = SpiralsDataset(range, 4, 0.25).batch(up_to(5000)).input -
                           SpiralsDataset(range, 4, 0).batch(up_to(5000)).input;
  EXPECT_NEAR(noise.std().item<double>(), 0.25, 0.01);
}

TEST(Regression, FollowsTheLawThatItShows) {
  const RegressionDataset exact({9, 0, 500}, 7, 0);
  const Batch batch = exact.batch(up_to(500));
  EXPECT_EQ(batch.target.sizes(), at::IntArrayRef({500, 1}));
  const at::Tensor weights = at::tensor(exact.weights(), at::kDouble).view({7, 1});
  const at::Tensor law = batch.input.to(at::kDouble).matmul(weights) + exact.bias();
  EXPECT_LT((batch.target.to(at::kDouble) - law).abs().max().item<double>(), 1e-5);
  EXPECT_NEAR(batch.input.std().item<double>(), 1, 0.06);

  const RegressionDataset noisy({9, 0, 5000}, 7, 0.5);
  const Batch more = noisy.batch(up_to(5000));
  const at::Tensor rest =
      more.target.to(at::kDouble) - more.input.to(at::kDouble).matmul(weights) - exact.bias();
  EXPECT_NEAR(rest.std().item<double>(), 0.5, 0.025);
}

TEST(Markov, TargetsAreInputsOneFurther) {
  const Batch batch = MarkovDataset({9, 0, 50}, 6, 11).batch(up_to(50));
  EXPECT_TRUE(at::equal(batch.input.slice(1, 1), batch.target.slice(1, 0, 10)));
}

TEST(Markov, LettersFollowEachOtherAsOftenAsItShows) {
  constexpr int kLetters = 4;
  const MarkovDataset markov({9, 0, 1000}, kLetters, 50);
  const Batch batch = markov.batch(up_to(1000));
  const at::Tensor pairs =
      at::bincount((batch.input * kLetters + batch.target).view({-1}), {}, kLetters * kLetters)
          .view({kLetters, kLetters})
          .to(at::kDouble);
  for (int from = 0; from < kLetters; ++from) {
    double sum = 0;
    const double times = pairs[from].sum().item<double>();
    for (int to = 0; to < kLetters; ++to) {
      const double chance = markov.probability(from, to);
      sum += chance;
      EXPECT_GT(chance, 0);
      EXPECT_NEAR(pairs[from][to].item<double>() / times, chance, five_deviations(chance, times));
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Markov, EntropyIsTheMeanSurprise) {
  const MarkovDataset markov({9, 0, 500}, 4, 400);
  const Batch batch = markov.batch(up_to(500));
  const auto from = values<std::int64_t>(batch.input), to = values<std::int64_t>(batch.target);
  double sum = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    sum -= std::log(markov.probability(static_cast<int>(from[i]), static_cast<int>(to[i])));
  }
  EXPECT_NEAR(sum / static_cast<double>(from.size()), markov.entropy(), 0.02);
  EXPECT_LT(markov.entropy(), std::log(4.0));
}

}  // namespace
}  // namespace cohort::data
