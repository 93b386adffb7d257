#pragma once

#include <cohort/dataset.h>
#include <cohort/error.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <torch/data/datasets/base.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace cohort {
namespace torch_data {

template <class T>
concept TensorPair = std::convertible_to<typename T::DataType, at::Tensor>;

/// An example without a target is its own target, as an auto-encoder needs it.
template <TensorPair Example>
Sample sample_of(Example example) {
  if constexpr (std::is_void_v<typename Example::TargetType>) {
    return {example.data, example.data};
  } else {
    static_assert(std::convertible_to<typename Example::TargetType, at::Tensor>,
                  "the targets of the data set must be tensors: map() them first");
    return {std::move(example.data), std::move(example.target)};
  }
}

/// The examples of a batch: a list of them, or one example that a transform such as Stack has collated.
template <TensorPair Example>
std::vector<Sample> samples_of(std::vector<Example> examples) {
  std::vector<Sample> samples;
  for (Example& example : examples) samples.push_back(sample_of(std::move(example)));
  return samples;
}
template <TensorPair Example>
std::vector<Sample> samples_of(Example collated) {
  const Sample all = sample_of(std::move(collated));
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < all.input.size(0); ++i) samples.push_back({all.input[i], all.target[i]});
  return samples;
}

/// A data set that is read by index. Torch's data sets are not safe for several threads: one reads at a time.
template <class TorchDataset>
class ByIndex final : public Dataset {
 public:
  ByIndex(TorchDataset dataset, std::size_t size) : dataset_(std::move(dataset)), size_(size) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(size_); }
  Sample at(std::int64_t index) const override { return read({&index, 1}).front(); }
  Batch batch(std::span<const std::int64_t> indices, const Draw&) const override {
    return stacked(read(indices), indices);
  }

 private:
  std::vector<Sample> read(std::span<const std::int64_t> indices) const {
    const std::vector<std::size_t> request(indices.begin(), indices.end());
    const std::lock_guard lock(mutex_);
    return samples_of(dataset_.get_batch(request));
  }

  mutable std::mutex mutex_;
  mutable TorchDataset dataset_;
  const std::size_t size_;
};

/// Samples that were read from a stream.
class COHORT_EXPORT InMemory final : public Dataset {
 public:
  explicit InMemory(std::vector<Sample> samples) : samples_(std::move(samples)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  Sample at(std::int64_t index) const override { return samples_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<Sample> samples_;
};

template <class TorchDataset>
std::vector<Sample> read_stream(TorchDataset& dataset) {
  static_assert(
      TorchDataset::is_stateful,
      "this stream has no end; only a stream whose get_batch() returns an optional can be read whole");
  constexpr std::size_t kAtOnce = 256;
  std::vector<Sample> all;
  dataset.reset();
  while (auto batch = dataset.get_batch(kAtOnce)) {
    std::vector<Sample> samples = samples_of(*std::move(batch));
    if (samples.empty()) break;
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return all;
}

}  // namespace torch_data

/// A data set of `torch::data`, to train with a Trainer. Transforms that were added with map() stay.
///
///     auto digits = cohort::from_torch(torch::data::datasets::MNIST("data").map(
///         torch::data::transforms::Normalize<>(0.13, 0.31)));
///     trainer.fit(digits);
///
/// A data set with a size is read when samples are needed. A stream, such as a ChunkDataset, is read to its
/// end at once and kept in memory, since every epoch needs its samples in another order. An example without a
/// target is its own target.
///
/// Threads: one thread at a time reads the data set of torch, so loader threads do not speed it up.
/// Failure: throws UsageError if the data set has no size.
template <class TorchDataset>
std::shared_ptr<Dataset> from_torch(TorchDataset dataset) {
  if constexpr (std::is_same_v<typename TorchDataset::BatchRequestType, std::size_t>) {
    return std::make_shared<torch_data::InMemory>(torch_data::read_stream(dataset));
  } else {
    const std::optional<std::size_t> size = dataset.size();
    if (!size) throw UsageError("the data set has no size: its size() returned an empty optional");
    return std::make_shared<torch_data::ByIndex<TorchDataset>>(std::move(dataset), *size);
  }
}

}  // namespace cohort
