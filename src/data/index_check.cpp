#include "data/index_check.h"

#include <cohort/error.h>
#include <fmt/format.h>

namespace cohort::data {

void require_sample(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw UsageError(fmt::format("there is no sample {} in a data set of {}", index, size));
}

void require_samples(std::span<const std::int64_t> indices, std::int64_t size) {
  for (std::int64_t index : indices) require_sample(index, size);
}

}  // namespace cohort::data
