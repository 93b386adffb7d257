#pragma once

#include <cohort/dataset.h>

#include <cstdint>
#include <span>

namespace cohort::data {

/// Failure: UsageError if a data set of `size` samples has no sample `index`.
void require_sample(std::int64_t index, std::int64_t size);
void require_samples(std::span<const std::int64_t> indices, std::int64_t size);

/// A data set that makes whole batches at once; a single sample is a batch of one. Its samples are the same
/// in every draw.
class BatchFirst : public Dataset {
 public:
  using Dataset::batch;
  Sample at(std::int64_t index) const final;
  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const final;

 protected:
  /// Tensors for `count` samples.
  virtual Batch allocate(std::int64_t count) const = 0;
  /// Writes sample `index` into row `row` of the tensors that allocate() returned.
  virtual void write(std::int64_t index, std::int64_t row, const Batch& into) const = 0;
};

/// The address of row `row` of a tensor that has `per_sample` elements in each row.
template <class T>
T* row_of(const at::Tensor& tensor, std::int64_t row, std::int64_t per_sample) {
  return static_cast<T*>(tensor.mutable_data_ptr()) + row * per_sample;
}

}  // namespace cohort::data
