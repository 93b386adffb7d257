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
  EXPECT_EQ(failure(ragged, {0, 3}), "the input of sample 3 is not a dense tensor in CPU memory");
}

/// Sample i has a mask [i] and, from sample `longer` on, a length.
struct Masked : Counting {
  explicit Masked(std::int64_t longer = 100) : Counting(8), longer_(longer) {}
  Sample at(std::int64_t index) const override {
    Sample sample = Counting::at(index);
    sample.others = {{"mask", at::full({1}, index, at::kLong)}};
    if (index >= longer_) sample.others.emplace_back("length", at::scalar_tensor(1));
    return sample;
  }

 private:
  const std::int64_t longer_;
};

TEST(Dataset, OtherTensorsAreStackedAndFoundByName) {
  const Batch batch = Masked().batch(std::vector<std::int64_t>{5, 2});
  EXPECT_EQ(batch["mask"].sizes(), at::IntArrayRef({2, 1}));
  EXPECT_EQ(values<std::int64_t>(batch["mask"]), (std::vector<std::int64_t>{5, 2}));
  EXPECT_TRUE(batch["input"].is_same(batch.input));
  EXPECT_TRUE(batch["target"].is_same(batch.target));
  const Sample second = batch.at(1);
  EXPECT_EQ(second["mask"].item<std::int64_t>(), 2);
  EXPECT_EQ(second.target.item<std::int64_t>(), 2);
  EXPECT_EQ(values<float>(second.input), (std::vector<float>{2, 2.5}));
}

TEST(Dataset, AnUnknownNameIsAnsweredWithThoseThereAre) {
  try {
    Masked().batch(test::up_to(2))["masks"];
    ADD_FAILURE() << "there is no such tensor";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.message(), "there is no tensor 'masks'; there are input, target, mask");
  }
}

TEST(Dataset, SamplesOfABatchHaveTheSameNames) {
  EXPECT_EQ(failure(Masked(3), {2, 3}),
            "sample 3 has the tensors input, target, mask, length, the first sample in its batch has input, "
            "target, mask. Give all samples of a data set tensors of the same names, in the same order.");
  struct Twice : Counting {
    using Counting::Counting;
    Sample at(std::int64_t index) const override {
      return {at::zeros({1}), at::zeros({1}), {{"target", at::full({1}, index)}}};
    }
  };
  EXPECT_EQ(failure(Twice(2), {1, 0}),
            "sample 1 has two tensors with the name 'target'. Give each tensor a name of its own, other than "
            "input and target.");
}

TEST(Dataset, StackedNeedsAnIndexForEachSample) {
  const std::vector<Sample> samples{Counting(3).at(2), Counting(3).at(0)};
  const std::vector<std::int64_t> indices{2, 0};
  EXPECT_EQ(values<std::int64_t>(stacked(samples, indices).target), indices);
  EXPECT_THROW(stacked(samples, std::vector<std::int64_t>{2}), UsageError);
}

/// The target of a sample tells in which draw it was read.
struct Telling : Counting {
  using Counting::Counting;
  Sample drawn(std::int64_t index, const Draw& draw) const override {
    const std::uint64_t number = draw.seed * 100 + draw.epoch * 10 + static_cast<std::uint64_t>(index);
    return {at::zeros({1}), at::scalar_tensor(static_cast<std::int64_t>(number), at::kLong)};
  }
};

TEST(Dataset, ABatchIsThatOfItsDraw) {
  const Telling data(5);
  EXPECT_EQ(values<std::int64_t>(data.batch(test::up_to(2, 3), {.seed = 4, .epoch = 2}).target),
            (std::vector<std::int64_t>{423, 424}));
  EXPECT_EQ(values<std::int64_t>(data.batch(test::up_to(2)).target), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(Counting(5).drawn(3, {.seed = 1, .epoch = 1}).target.item<std::int64_t>(), 3);
}

}  // namespace
}  // namespace cohort
