#pragma once

#include <cohort/dataset.h>

namespace cohort::data {

/// A data set that makes whole batches at once; a single sample is a batch of one.
class BatchFirst : public Dataset {
 public:
  Sample at(std::int64_t index) const final;
  Batch batch(std::span<const std::int64_t> indices) const final;

 protected:
  /// Tensors for `count` samples.
  virtual Batch allocate(std::int64_t count) const = 0;
  /// Writes sample `index` into place `at` of what allocate() gave.
  virtual void write(std::int64_t index, std::int64_t at, const Batch& into) const = 0;
};

/// Where place `at` of a tensor that has `per_sample` numbers for each begins.
template <class T>
T* place_in(const at::Tensor& tensor, std::int64_t at, std::int64_t per_sample) {
  return static_cast<T*>(tensor.mutable_data_ptr()) + at * per_sample;
}

}  // namespace cohort::data
