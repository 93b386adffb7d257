#pragma once

#include <ATen/ATen.h>
#include <cohort/dataset.h>

#include <numeric>
#include <vector>

namespace cohort::test {

template <class T>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  return {plain.const_data_ptr<T>(), plain.const_data_ptr<T>() + plain.numel()};
}

inline std::vector<std::int64_t> up_to(std::int64_t count, std::int64_t first = 0) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// Sample i is [i, i + ½] and the class i.
class Counting : public Dataset {
 public:
  explicit Counting(std::int64_t size) : size_(size) {}

  std::int64_t size() const override { return size_; }
  Sample at(std::int64_t index) const override {
    const auto value = static_cast<double>(index);
    return {at::tensor({value, value + 0.5}, at::kFloat), at::scalar_tensor(index, at::kLong)};
  }

 private:
  const std::int64_t size_;
};

/// Whether single samples, and batches in another order, are the same as one batch of all.
inline bool is_consistent(const Dataset& dataset, std::int64_t count) {
  const Batch all = dataset.batch(up_to(count));
  std::vector<std::int64_t> backwards = up_to(count);
  std::reverse(backwards.begin(), backwards.end());
  const Batch other = dataset.batch(backwards);
  bool same = at::equal(all.input.flip(0), other.input) && at::equal(all.target.flip(0), other.target);
  for (std::int64_t i = 0; i < count; ++i) {
    const Sample sample = dataset.at(i);
    same = same && at::equal(all.input[i], sample.input) && at::equal(all.target[i], sample.target);
  }
  return same && all.samples == up_to(count) && other.samples == backwards;
}

}  // namespace cohort::test
