#pragma once

#include <cstdint>
#include <span>

namespace cohort::data {

/// Failure: UsageError if a data set of `size` samples has none with this number.
void require_sample(std::int64_t index, std::int64_t size);
void require_samples(std::span<const std::int64_t> indices, std::int64_t size);

}  // namespace cohort::data
