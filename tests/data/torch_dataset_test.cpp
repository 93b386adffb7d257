#include <cohort/torch_dataset.h>

#include "tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/data/datasets/map.h>
#include <torch/data/datasets/stateful.h>
#include <torch/data/datasets/tensor.h>
#include <torch/data/transforms/lambda.h>
#include <torch/data/transforms/stack.h>

namespace cohort {
namespace {

namespace data = torch::data;
using test::values;

/// Sample i: an input of (i, 2i), the target i + 100.
struct Pairs : data::datasets::Dataset<Pairs> {
  data::Example<> get(std::size_t index) override {
    const auto i = static_cast<std::int64_t>(index);
    return {at::tensor({i, 2 * i}, at::kFloat), at::scalar_tensor(i + 100, at::kLong)};
  }
  std::optional<std::size_t> size() const override { return 5; }
};

struct Unsized : Pairs {
  std::optional<std::size_t> size() const override { return std::nullopt; }
};

/// Three batches of two samples, then the end; reset() begins again.
struct Stream : data::datasets::StatefulDataset<Stream> {
  std::optional<std::vector<data::Example<>>> get_batch(std::size_t) override {
    if (next == 6) return std::nullopt;
    std::vector<data::Example<>> batch;
    for (int i = 0; i < 2; ++i, ++next) batch.emplace_back(at::full({1}, next), at::full({1}, -next));
    return batch;
  }
  std::optional<std::size_t> size() const override { return std::nullopt; }
  void reset() override { next = 0; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  int next = 4;
};

void expect_pairs(const Dataset& found) {
  EXPECT_EQ(found.size(), 5);
  EXPECT_EQ(values<float>(found.at(3).input), (std::vector<float>{3, 6}));
  EXPECT_EQ(found.at(3).target.item<std::int64_t>(), 103);
  const std::vector<std::int64_t> indices{4, 0, 4};
  const Batch batch = found.batch(indices);
  EXPECT_EQ(batch.input.sizes(), (at::IntArrayRef{3, 2}));
  EXPECT_EQ(values<std::int64_t>(batch.target), (std::vector<std::int64_t>{104, 100, 104}));
  EXPECT_EQ(batch.samples, indices);
}

TEST(TorchDataset, SamplesAndBatchesAreThoseOfTorch) {
  expect_pairs(*from_torch(Pairs{}));
}

TEST(TorchDataset, ACollatedDataSetGivesTheSame) {
  expect_pairs(*from_torch(Pairs{}.map(data::transforms::Stack<>())));
}

TEST(TorchDataset, TransformsStay) {
  const auto doubled = from_torch(Pairs{}.map(data::transforms::Lambda<data::Example<>>(
      [](data::Example<> example) { return data::Example<>(example.data * 2, example.target); })));
  EXPECT_EQ(values<float>(doubled->at(3).input), (std::vector<float>{6, 12}));
}

TEST(TorchDataset, WithoutTargetsTheInputIsTheTarget) {
  const auto rows = from_torch(data::datasets::TensorDataset(at::arange(6, at::kFloat).view({3, 2})));
  EXPECT_EQ(rows->size(), 3);
  EXPECT_TRUE(at::equal(rows->at(2).input, rows->at(2).target));
  EXPECT_EQ(values<float>(rows->at(2).input), (std::vector<float>{4, 5}));
}

TEST(TorchDataset, AStreamIsReadFromItsBeginningToItsEnd) {
  const auto stream = from_torch(Stream{});
  ASSERT_EQ(stream->size(), 6);
  for (std::int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(stream->at(i).target.item<double>(), static_cast<double>(-i));
}

TEST(TorchDataset, WithoutASizeItIsRefused) {
  EXPECT_THROW(from_torch(Unsized{}), UsageError);
}

}  // namespace
}  // namespace cohort
