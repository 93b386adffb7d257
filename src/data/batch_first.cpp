#include "data/batch_first.h"

#include <ATen/ATen.h>
#include <cohort/error.h>
#include <fmt/format.h>

namespace cohort::data {

void require_sample(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw UsageError(fmt::format("there is no sample {} in a data set of {} samples", index, size));
}

void require_samples(std::span<const std::int64_t> indices, std::int64_t size) {
  for (std::int64_t index : indices) require_sample(index, size);
}

Sample BatchFirst::at(std::int64_t index) const {
  return batch(std::span(&index, 1)).at(0);
}

Batch BatchFirst::batch(std::span<const std::int64_t> indices, const Draw&) const {
  require_samples(indices, size());
  Batch batch = allocate(static_cast<std::int64_t>(indices.size()));
  batch.samples.assign(indices.begin(), indices.end());
  std::int64_t row = 0;
  for (std::int64_t index : indices) write(index, row++, batch);
  return batch;
}

}  // namespace cohort::data
