#include "data/batch_first.h"

#include "data/index_check.h"

#include <ATen/ATen.h>

namespace cohort::data {

Sample BatchFirst::at(std::int64_t index) const {
  const Batch one = batch(std::span(&index, 1));
  return {one.input.select(0, 0), one.target.select(0, 0)};
}

Batch BatchFirst::batch(std::span<const std::int64_t> indices) const {
  require_samples(indices, size());
  Batch batch = allocate(static_cast<std::int64_t>(indices.size()));
  batch.samples.assign(indices.begin(), indices.end());
  std::int64_t place = 0;
  for (std::int64_t index : indices) write(index, place++, batch);
  return batch;
}

}  // namespace cohort::data
