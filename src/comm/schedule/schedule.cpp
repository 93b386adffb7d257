#include "comm/schedule/schedule.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {

Part even_part(std::size_t total, int part, int num_parts) {
  COHORT_CHECK(part >= 0 && part < num_parts, "part {} of {}", part, num_parts);
  const auto index = static_cast<std::size_t>(part);
  const auto parts = static_cast<std::size_t>(num_parts);
  const std::size_t length = total / parts;
  const std::size_t longer = total % parts;
  return {index * length + std::min(index, longer), length + (index < longer ? 1 : 0)};
}

}  // namespace cohort::comm
