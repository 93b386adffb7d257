#include "update/mask.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace cohort::update {
namespace {

template <class Number>
void zero_where_masked(const float* __restrict mask, Number* __restrict values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = mask[i] == 0 ? Number(0) : values[i];
}

}  // namespace

Status check_mask(const MaskOptions& options) {
  if (options.sparsity && !(*options.sparsity >= 0 && *options.sparsity < 1)) {
    return Error(ErrorCode::kUsage, fmt::format("TrainerOptions::mask.sparsity is {}", *options.sparsity))
        .with_remedy("Give a number from 0 to below 1.");
  }
  if (options.sparsity && !options.file.empty()) {
    return Error(ErrorCode::kUsage,
                 "TrainerOptions::mask.sparsity and TrainerOptions::mask.file are both set, expected one")
        .with_remedy("Leave one of them out.");
  }
  if (!options.parameters.empty() && !options.sparsity) {
    return Error(ErrorCode::kUsage,
                 "TrainerOptions::mask.parameters is set, but TrainerOptions::mask.sparsity is not")
        .with_remedy("Set TrainerOptions::mask.sparsity as well, or leave both out.");
  }
  return {};
}

std::vector<std::uint8_t> mask_of_largest(std::span<const float> values, double sparsity) {
  std::vector<std::uint8_t> mask(values.size(), 1);
  const auto num_zeros =
      static_cast<std::ptrdiff_t>(std::nearbyint(sparsity * static_cast<double>(values.size())));
  const auto magnitude = [&](std::size_t i) {
    return std::isnan(values[i]) ? std::numeric_limits<float>::infinity() : std::fabs(values[i]);
  };
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::nth_element(order.begin(), order.begin() + num_zeros, order.end(), [&](std::size_t a, std::size_t b) {
    const float of_a = magnitude(a), of_b = magnitude(b);
    return of_a != of_b ? of_a < of_b : a < b;
  });
  for (std::ptrdiff_t i = 0; i < num_zeros; ++i) mask[order[static_cast<std::size_t>(i)]] = 0;
  return mask;
}

void hold_at_zero(const float* mask, float* values, std::size_t count) {
  zero_where_masked(mask, values, count);
}

void hold_at_zero(const float* mask, std::uint16_t* values, std::size_t count) {
  zero_where_masked(mask, values, count);
}

}  // namespace cohort::update
