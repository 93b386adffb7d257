#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort {
class DataParallel;
}

namespace cohort::train {

/// True if each parameter of `num_parameters` occurs once.
bool is_order_of(std::span<const std::int64_t> order, std::size_t num_parameters);

/// The order of parameters in the buckets of a DataParallel.
std::vector<std::int64_t> bucket_order(const DataParallel& parallel);

/// Gives the buckets this order, which they keep. All ranks together, before the first backward.
///
/// Failure: throws UsageError for the order of another module.
void set_bucket_order(DataParallel& parallel, const std::vector<std::int64_t>& order);

}  // namespace cohort::train
