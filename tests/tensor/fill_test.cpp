#include <ATen/ATen.h>
#include <cohort/error.h>
#include <cohort/tensor.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

const RandomStream kStream(7, 3);

TEST(Fill, PutsTheNumberOfItsPositionIntoEveryElement) {
  at::Tensor tensor = at::empty({3, 5}, at::kDouble);
  fill_normal(tensor, kStream, 10, 2);
  for (std::int64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(tensor.view({15})[i].item<double>(), 10 + 2 * kStream.normal(static_cast<std::uint64_t>(i)));
  }
}

TEST(Fill, DoesNotDependOnTheMemoryLayout) {
  at::Tensor plain = at::empty({2, 3, 4, 5});
  at::Tensor channels_last = at::empty({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor strided = at::empty({5, 4, 3, 2}).permute({3, 2, 1, 0});
  for (at::Tensor* tensor : {&plain, &channels_last, &strided}) fill_uniform(*tensor, kStream, -1, 1);
  EXPECT_TRUE(at::equal(plain, channels_last));
  EXPECT_TRUE(at::equal(plain, strided));
  EXPECT_LT(plain.max().item<float>(), 1.0f);
  EXPECT_LT(plain.min().item<float>(), 0.0f);
}

TEST(Fill, RoundsToTheTypeOfTheTensor) {
  at::Tensor exact = at::empty({100}, at::kDouble);
  at::Tensor rounded = at::empty({100}, at::kBFloat16);
  fill_normal(exact, kStream, 0, 1);
  fill_normal(rounded, kStream, 0, 1);
  EXPECT_TRUE(at::equal(exact.to(at::kBFloat16), rounded));
}

TEST(Fill, TakesParametersAndEmptyTensors) {
  at::Tensor parameter = at::empty({4}).requires_grad_(), plain = at::empty({4});
  fill_uniform(parameter, kStream, 0, 1);
  fill_uniform(plain, kStream, 0, 1);
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_TRUE(at::equal(parameter, plain));
  at::Tensor nothing = at::empty({0});
  EXPECT_NO_THROW(fill_uniform(nothing, kStream, 0, 1));
}

TEST(Fill, RefusesWholeNumbersWithARemedy) {
  at::Tensor whole = at::empty({4}, at::kLong);
  try {
    fill_uniform(whole, kStream, 0, 1);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(
        error.text(),
        "cannot fill a Long tensor on cpu with random numbers. Give a floating-point tensor in CPU memory.");
  }
}

}  // namespace
}  // namespace cohort
