#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// How numbers of several ranks become one. The mean is the sum, divided once; integers have none.
enum class ReduceOp : std::uint8_t { kSum, kMin, kMax, kProduct, kMean };

inline constexpr ReduceOp kAllReduceOps[] = {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax,
                                             ReduceOp::kProduct, ReduceOp::kMean};

/// `sum`, `min`, `max`, `product`, `mean`.
COHORT_EXPORT std::string_view name(ReduceOp op);
COHORT_EXPORT std::optional<ReduceOp> reduce_op_named(std::string_view name);

}  // namespace cohort
