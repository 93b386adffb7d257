#include "train/bucket_order.h"

namespace cohort::train {

bool is_order_of(std::span<const std::int64_t> order, std::size_t num_parameters) {
  if (order.size() != num_parameters) return false;
  std::vector<bool> seen(num_parameters, false);
  for (const std::int64_t parameter : order) {
    const auto p = static_cast<std::size_t>(parameter);
    if (p >= num_parameters || seen[p]) return false;
    seen[p] = true;
  }
  return true;
}

}  // namespace cohort::train
