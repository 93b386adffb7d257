#include "tensors.h"

#include <cohort/dataset.h>
#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using test::Counting;
using test::values;

TEST(Dataset, ABatchIsItsSamplesSideBySide) {
  const std::vector<std::int64_t> indices{4, 0, 4};
  const Batch batch = Counting(5).batch(indices);
  EXPECT_EQ(batch.input.sizes(), at::IntArrayRef({3, 2}));
  EXPECT_EQ(values<float>(batch.input), (std::vector<float>{4, 4.5, 0, 0.5, 4, 4.5}));
  EXPECT_EQ(batch.target.sizes(), at::IntArrayRef({3}));
  EXPECT_EQ(values<std::int64_t>(batch.target), indices);
  EXPECT_EQ(batch.samples, indices);
}

struct Strided : Counting {
  using Counting::Counting;
  Sample at(std::int64_t index) const override {
    at::Tensor square = at::arange(6, at::kFloat).view({2, 3}) + static_cast<double>(index);
    return {square.t(), at::scalar_tensor(index, at::kLong)};
  }
};

TEST(Dataset, TakesSamplesOfAnyMemoryLayout) {
  const Batch batch = Strided(2).batch(test::up_to(2));
  EXPECT_EQ(values<float>(batch.input), (std::vector<float>{0, 3, 1, 4, 2, 5, 1, 4, 2, 5, 3, 6}));
}

struct Ragged : Counting {
  using Counting::Counting;
  Sample at(std::int64_t index) const override {
    if (index == 3) return {};
    return {at::zeros({index == 2 ? 3 : 2}), at::zeros({}, index == 1 ? at::kInt : at::kLong)};
  }
};

std::string failure(const Dataset& dataset, std::vector<std::int64_t> indices) {
  try {
    dataset.batch(indices);
  } catch (const UsageError& error) {
    return error.text();
  }
  return "";
}

TEST(Dataset, NamesTheSampleThatDoesNotFit) {
  const Ragged ragged(4);
  EXPECT_EQ(failure(ragged, {0, 2}),
            "the input of sample 2 is Float [3], that of the first sample in its batch is Float [2]. Give "
            "all samples "
            "of a data set the "
            "same shape and type.");
  EXPECT_NE(failure(ragged, {0, 1})
                .find("the target of sample 1 is Int [], that of the first sample in its batch is Long []"),
            std::string::npos);
  EXPECT_EQ(failure(ragged, {0, 3}), "the input of sample 3 is not a tensor in CPU memory");
}

}  // namespace
}  // namespace cohort
